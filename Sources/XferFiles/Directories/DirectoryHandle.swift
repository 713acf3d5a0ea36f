import CLinux
import Glibc
public import XferModel
import XferSystem

/// An open directory. Names given to it are single names, never paths, and symbolic links are never followed, so that
/// all work stays in the directory that was allowed, even if the path changes meanwhile.
public final class DirectoryHandle: Sendable {
    /// The path it was opened by: absolute, without doubled or trailing slashes.
    public let path: String
    /// The identity of the directory.
    public let identity: FileIdentity
    let handle: Descriptor
    private let known: Locked<FileSystemTraits>
    /// The roots and users it was opened for; nil for an operator, or the service itself.
    private let roots: AllowedRoots?

    var descriptor: Int32 { handle.raw }

    /// - Parameter traits: for tests; nil uses those of its file system.
    init(
        path: String, handle: Descriptor, for roots: AllowedRoots? = nil, traits: FileSystemTraits? = nil
    ) throws(FileError) {
        self.path = path
        self.roots = roots
        self.handle = handle
        identity = FileIdentity(try XferFiles.status(of: handle.raw, path: path))
        known = Locked(traits ?? FileSystems.ofProcess.traits(of: handle.raw, device: identity.device))
    }

    /// The known abilities of its file system with files and names.
    public var traits: FileSystemTraits { known.withLock { $0 } }

    /// Records features that an attempt has shown to be missing in the file system.
    func learn(lacking features: [FileSystemTraits.Feature]) {
        for feature in features where known.withLock({ $0.lacking.insert(feature).inserted }) {
            FileSystems.ofProcess.record(lacking: feature, device: identity.device)
        }
    }

    /// Opens one of the service's own directories, without checking roots. Paths from clients are opened through
    /// `AllowedRoots`.
    public convenience init(ofService path: String) throws(FileError) {
        switch openDescriptor(path, flags: O_RDONLY | O_DIRECTORY) {
        case .value(let handle): try self.init(path: path, handle: handle)
        case .failure(ENOENT): throw .missing(path: path)
        case .failure(ENOTDIR): throw .notADirectory(path: path)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    /// The number that identifies the file system in a `SpaceLedger`: the device number. Not stored across restarts.
    public var fileSystemID: UInt64 { identity.device }

    /// The absolute path of a name in this directory.
    public func path(of name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

    /// True if a path leads to this very directory now (it does not while its disk is unmounted).
    public func isSame(asPath path: String) -> Bool { FileIdentity(ofPath: path) == identity }

    /// True if this may be the recorded directory under the number that its file system got with another mount. File
    /// systems without a device of their own (btrfs, ZFS) get another number with each mount.
    ///
    /// It is never true of FUSE and of network file systems, where a user may choose the inode numbers.
    public func isRemounted(_ recorded: FileIdentity) -> Bool {
        identity.inode == recorded.inode && traits.isLocal && xfer_major(identity.device) == 0
            && xfer_major(recorded.device) == 0
    }

    /// Bytes an unprivileged process may still write on this file system (statvfs(3) `f_bavail`); quotas are not seen.
    public func freeSpace() throws(FileError) -> Int64 {
        var facts = statvfs()
        try perform("measure free space in", on: path) { fstatvfs(descriptor, &facts) }
        return Int64(
            clamping: UInt64(clamping: facts.f_bavail).multipliedSaturated(by: UInt64(clamping: facts.f_frsize)))
    }

    /// The size of the file system in bytes (statvfs(3) `f_blocks`).
    public func size() throws(FileError) -> Int64 {
        var facts = statvfs()
        try perform("measure", on: path) { fstatvfs(descriptor, &facts) }
        return Int64(
            clamping: UInt64(clamping: facts.f_blocks).multipliedSaturated(by: UInt64(clamping: facts.f_frsize)))
    }

    /// Makes entries made, renamed and removed so far durable (fsync(2)).
    public func sync() throws(FileError) { try perform("write out", on: path) { fsync(descriptor) } }
}

// MARK: - Rights

extension DirectoryHandle {
    /// Throws unless the users it was opened for may still make and rename files in it: their permissions may have
    /// changed.
    ///
    /// - Throws: `notPermitted`, `undecidable`, `system`.
    func requireStillWritable() throws(FileError) {
        // The kernel has checked the user's permissions when it was opened.
        let wasChecked = roots?.actsAsUser ?? false
        try require([.write, .search], on: handle, at: path, "write there any more", wasChecked: wasChecked)
    }

    /// Throws unless the users it was opened for may read an open file of it.
    ///
    /// - Throws: `notPermitted`, `undecidable`, `system`.
    func requireReadable(_ file: Descriptor, at path: String) throws(FileError) {
        try require(.read, on: file, at: path, "read it", wasChecked: false)
    }

    private func require(
        _ access: FilePermissions.Access, on handle: Descriptor, at path: String, _ wish: String, wasChecked: Bool
    ) throws(FileError) {
        guard let roots, !roots.users.isEmpty else { return }
        let permissions = FilePermissions(of: handle, try XferFiles.status(of: handle.raw, path: path))
        for user in roots.users {
            switch permissions.decision(about: access, for: user) {
            case .permitted: break
            case .denied: throw .notPermitted(path: path, uid: user.uid, wish: wish)
            case .undecided where wasChecked: break
            case .undecided: throw .undecidable(path: path, uid: user.uid, at: path)
            }
        }
    }

    /// True if it was opened with the rights of users, not with those of the service.
    public var isForUsers: Bool { roots.map { !$0.users.isEmpty } ?? false }

    /// The user that becomes the owner of files published here; nil leaves them to the service.
    var heir: FileUser? { roots.flatMap { $0.actsAsUser ? $0.users.first : nil } }
}

// MARK: - Entries

extension DirectoryHandle {
    /// The status of an entry, symbolic links not followed; nil when there is none.
    public func status(of name: String) throws(FileError) -> FileStatus? {
        try requireSingleName(name)
        var facts = stat()
        switch retryingInterrupts({ fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) }) {
        case .value: return FileStatus(facts)
        case .failure(ENOENT): return nil
        case .failure(let code): throw .system(operation: "inspect", path: path(of: name), code: code)
        }
    }

    /// True if an entry has this name, even a dangling link.
    public func exists(_ name: String) throws(FileError) -> Bool { try status(of: name) != nil }

    /// The identity of the file with this name; nil when there is none.
    public func identity(of name: String) throws(FileError) -> FileIdentity? { try status(of: name)?.identity }

    /// Removes a file or link; false when there was none.
    @discardableResult
    public func remove(_ name: String) throws(FileError) -> Bool {
        try requireSingleName(name)
        switch retryingInterrupts({ unlinkat(descriptor, name, 0) }) {
        case .value: return true
        case .failure(ENOENT): return false
        case .failure(EISDIR): throw .isADirectory(path: path(of: name))
        case .failure(let code): throw .system(operation: "remove", path: path(of: name), code: code)
        }
    }

    /// Throws unless `name` is one entry's name, so that it cannot lead out of here.
    func requireSingleName(_ name: String) throws(FileError) {
        if let problem = FileName.problem(with: name) { throw .invalidName(name, problem: problem) }
    }
}

// MARK: - Listing

extension DirectoryHandle {
    /// The names in this directory that begin with `prefix`, in no order.
    public func names(beginningWith prefix: String) throws(FileError) -> [String] {
        let listing: Descriptor
        switch openDescriptor(at: descriptor, ".", flags: O_RDONLY | O_DIRECTORY) {
        case .value(let opened): listing = opened
        case .failure(let code): throw .system(operation: "list", path: path, code: code)
        }
        // The stream closes what it is given.
        let duplicate = fcntl(listing.raw, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0, let stream = fdopendir(duplicate) else {
            let code = errno
            if duplicate >= 0 { close(duplicate) }
            throw .system(operation: "list", path: path, code: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                raw.starts(with: prefix.utf8) ? String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self) : nil
            }
            if let name { names.append(name) }
        }
        return names
    }

    /// Removes all files and links whose names begin with `prefix`, except the kept ones; returns their number.
    @discardableResult
    public func remove(beginningWith prefix: String, but kept: Set<String> = []) throws(FileError) -> Int {
        var count = 0
        for name in try names(beginningWith: prefix) where !kept.contains(name) {
            do {
                if try remove(name) { count += 1 }
            } catch .isADirectory {
                // A directory of this name is not the service's: it only makes files with this prefix.
            }
        }
        return count
    }
}

/// A directory that was opened beneath allowed roots, remembered without keeping it open. Two system calls check that
/// its path still leads to it, while opening it needs some thirty.
///
/// Only for file systems on this machine's own disks, or in its memory: there these calls never wait for another
/// machine.
public struct AdmittedDirectory: Sendable {
    public let identity: FileIdentity
    private let path: String

    /// Remembers the directory. Returns nil if calls to its file system may block.
    ///
    /// - Parameter path: the path with which it was opened.
    public init?(_ handle: DirectoryHandle, path: String) {
        guard handle.traits.isLocal else { return nil }
        self.path = path
        identity = handle.identity
    }

    /// The kind of what has this name in the directory; nil if nothing visible has it.
    public func kind(of name: String) -> FileStatus.Kind? {
        var facts = stat()
        return lstat("\(path)/\(name)", &facts) == 0 ? FileStatus(facts).kind : nil
    }

    /// True if the path leads to it and files may be created in it now.
    public var isWritable: Bool {
        FileIdentity(ofPath: path) == identity && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0
    }
}
