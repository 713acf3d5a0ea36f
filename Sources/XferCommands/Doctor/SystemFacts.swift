import Glibc

/// The facts about the machine for `xferctl doctor`. Tests invent them.
struct SystemFacts: Sendable {
    /// A directory or file as the caller finds it.
    enum Entry: Hashable, Sendable {
        case missing
        case unreadable
        /// The file system does not answer in time.
        case unresponsive
        case directory
        case file
        case other
    }

    /// A directory's owner and permission bits.
    struct Permissions: Hashable, Sendable {
        var owner: UInt32
        var mode: UInt32

        /// True if this user can certainly not write in the directory. If the group's bits allow it, the user may be in
        /// the group, or an access list may have the user: those bits are the list's mask then (acl(5)).
        func excludes(_ user: UInt32) -> Bool {
            func allows(_ shift: UInt32) -> Bool { mode >> shift & 3 == 3 }
            if user == 0 { return false }
            return user == owner ? !allows(6) : !allows(3) && !allows(0)
        }
    }

    /// Room on a file system.
    struct Room: Hashable, Sendable {
        var free: Int64
        var size: Int64
    }

    var entry: @Sendable (_ path: String) -> Entry
    /// The owner and the permission bits of a directory; nil when they cannot be read.
    var permissions: @Sendable (_ path: String) -> Permissions? = { _ in nil }
    /// The path without symbolic links; unchanged when it cannot be resolved.
    var resolved: @Sendable (_ path: String) -> String = { $0 }
    /// The free space; nil when it cannot be measured.
    var room: @Sendable (_ path: String) -> Room?
    /// The beginning of a text file; nil when it cannot be read.
    var text: @Sendable (_ path: String) -> String?
    /// Seconds since 1970.
    var now: Int64
    /// True if a time service synchronises the kernel's clock; nil when that cannot be known.
    var isClockSynchronised: Bool?
    /// Properties of a unit; nil without systemd.
    var unit: @Sendable (_ name: String, _ isUser: Bool) -> [String: String]?
    /// True if the host's name is resolved; nil when it was not tried.
    var resolves: @Sendable (_ host: String) -> Bool
    var userName: String

    static var ofThisMachine: SystemFacts {
        SystemFacts(
            entry: { path in BoundedLookup.run { _ in entry(path) } ?? .unresponsive }, permissions: permissions,
            resolved: resolved, room: { path in BoundedLookup.run { _ in room(path) } ?? nil }, text: { text($0) },
            now: Int64(clamping: time(nil)), isClockSynchronised: isClockSynchronised, unit: unit, resolves: resolves,
            userName: getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "")
    }

    private static func entry(_ path: String) -> Entry {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return [ENOENT, ENOTDIR].contains(errno) ? .missing : .unreadable }
        switch facts.st_mode & S_IFMT {
        case S_IFDIR: return .directory
        case S_IFREG: return access(path, R_OK) == 0 ? .file : .unreadable
        default: return .other
        }
    }

    private static func permissions(_ path: String) -> Permissions? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        return Permissions(owner: facts.st_uid, mode: facts.st_mode & 0o777)
    }

    private static func resolved(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    private static func room(_ path: String) -> Room? {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { return nil }
        func bytes(_ blocks: UInt) -> Int64 {
            let (product, hasOverflown) = UInt64(clamping: blocks)
                .multipliedReportingOverflow(by: UInt64(clamping: facts.f_frsize))
            return hasOverflown ? .max : Int64(clamping: product)
        }
        return Room(free: bytes(facts.f_bavail), size: bytes(facts.f_blocks))
    }

    /// The beginning of a text file; nil when it cannot be read.
    static func text(_ path: String, limit: Int = 1 << 20) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        return read(file, limit: limit)
    }

    private static func read(_ file: UnsafeMutablePointer<FILE>, limit: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = fread(&bytes, 1, bytes.count, file)
        return ferror(file) == 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    /// The clock's state. timedatectl(1) reports the kernel's knowledge, whichever service synchronises the clock.
    private static var isClockSynchronised: Bool? {
        let answer = output(of: "timedatectl show --property=NTPSynchronized --value")
        return ["yes\n": true, "no\n": false][answer ?? ""]
    }

    /// The output of a command; nil without systemd, or when it fails. The command contains no text from outside.
    private static func output(of command: String) -> String? {
        guard access("/run/systemd/system", F_OK) == 0, let pipe = popen("\(command) 2>/dev/null", "re") else {
            return nil
        }
        let output = read(pipe, limit: 16 << 10)
        return pclose(pipe) == 0 ? output : nil
    }

    private static func unit(_ name: String, isUser: Bool) -> [String: String]? {
        let properties = "LoadState,ActiveState,UnitFileState,Result,NRestarts"
        let manager = isUser ? "--user " : ""
        guard let output = output(of: "systemctl \(manager)show --no-pager --property=\(properties) \(name)") else {
            return nil
        }
        let pairs = output.split(separator: "\n").compactMap { line -> (String, String)? in
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        return Dictionary(pairs) { $1 }
    }

    private static func resolves(_ host: String) -> Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        return getaddrinfo(host, nil, nil, &found) == 0
    }
}
