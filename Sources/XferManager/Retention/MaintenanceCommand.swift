import Glibc

/// A command of `xferd` for the database of a state directory, as it has to be typed on this machine.
enum MaintenanceCommand {
    /// The highest uid of accounts for services (login.defs(5), SYS_UID_MAX), which do not log in.
    private static let highestServiceUID: uid_t = 999

    /// - Parameters:
    ///   - option: such as `--check-database`.
    ///   - uid: the daemon's user, who owns the state directory.
    static func text(_ option: String, stateDirectory: String, uid: uid_t = geteuid()) -> String {
        let command = "xferd --state-dir \(quoted(stateDirectory)) \(option)"
        guard (1...highestServiceUID).contains(uid) else { return command }
        // A name would have to be looked up, which may wait for a directory on the network.
        return "sudo -u '#\(uid)' \(command)"
    }

    /// The text as one word of a POSIX shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "-_./+,@:=".utf8.contains(byte)
        }
        guard !isPlain else { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
