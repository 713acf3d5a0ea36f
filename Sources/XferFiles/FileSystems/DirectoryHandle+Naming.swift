import Glibc
import XferModel

/// The names that the file system of a directory allows.
extension DirectoryHandle {
    /// True if only an attempt shows which names the file system allows, so that the following calls may block.
    public var asksAboutNames: Bool { traits.names != .any }

    /// A name that a server or a URL has suggested, changed to one that the file system allows. Blocks.
    public func fitted(_ name: String) -> String {
        let traits = traits
        let fitted = FileName.fitted(name, to: traits.names, longest: traits.longestName)
        guard refusal(of: fitted) != nil else { return fitted }
        let careful = FileName.fitted(name, to: .windows, longest: traits.longestName)
        return refusal(of: careful) == nil ? careful : FileName.portable(name, longest: traits.longestName)
    }

    /// Throws if the file system does not allow a client's name. Blocks: if only an attempt shows it, creates and
    /// removes a file with a similar name.
    ///
    /// - Throws: `nameRefused`.
    public func requireNameable(_ name: String) throws(FileError) {
        if let code = refusal(of: name) { throw .nameRefused(path: path(of: name), code: code) }
    }

    /// True for the numbers of errors by which a file system refuses a name.
    static func isNameRefusal(_ code: Int32) -> Bool { [EINVAL, ENAMETOOLONG, EILSEQ].contains(code) }

    /// The error number with which the file system refuses a name; nil if it accepts the name, as far as that can be
    /// determined.
    private func refusal(of name: String) -> Int32? {
        guard name.utf8.count <= traits.longestName else { return ENAMETOOLONG }
        guard traits.names != .any, !FileName.isPortable(name), (try? exists(name)) == false,
            (try? requireStillWritable()) != nil
        else { return nil }
        // Not the name itself: other tasks and programs would see it for a moment, and take it for a file.
        let code = attempt(Self.trialPrefix + name)
        guard code == ENAMETOOLONG else { return code }
        // The prefix may have made it too long: cut again, no longer than the name.
        var end = name.unicodeScalars[...]
        while String(end).utf8.count + Self.trialPrefix.utf8.count > name.utf8.count, !end.isEmpty { end.removeFirst() }
        return attempt(Self.trialPrefix + String(end))
    }

    /// The beginning of the names of trial files. A crash during a trial leaves an empty file.
    private static let trialPrefix = ".xfer-"

    private func attempt(_ trial: String) -> Int32? {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        switch openDescriptor(at: descriptor, trial, flags: flags, mode: 0o600) {
        case .value:
            _ = unlinkat(descriptor, trial, 0)
            return nil
        case .failure(let code): return Self.isNameRefusal(code) ? code : nil
        }
    }
}
