import Glibc
import XferModel
import XferSystem

/// The daemon's own directory: private to its uid and locked, so that one daemon at a time works in it.
///
/// The lock is an flock(2) on the file `lock`; the kernel releases it when the process ends in any way. It lasts as
/// long as this object.
public final class StateDirectory: Sendable {
    /// Absolute path.
    public let path: String
    public let directory: DirectoryHandle
    private let lock: Descriptor

    /// Creates the directory (0700, its parents 0777 less the umask) when it is missing, checks that no other user can
    /// change its contents, and locks it.
    ///
    /// - Throws: `alreadyLocked` with the holder's pid, `insecureStateDirectory`, `notAbsolute`, `notADirectory`,
    ///   `notWritable`, `system`.
    public init(path: String) throws(FileError) {
        guard !path.utf8.contains(0) else { throw .containsNUL(path: path) }
        guard path.hasPrefix("/") else { throw .notAbsolute(path: path) }
        self.path = ResolvedPath.tidy(path)
        try Self.make(self.path)
        directory = try DirectoryHandle(ofService: self.path)
        try Self.requirePrivate(directory)
        lock = try Self.acquireLock(in: directory)
    }

    /// Writes the pid of the lock's owner, and its socket. Only the message of a second daemon uses them (flock does not
    /// report the owner), so a failure is ignored. Call it when the daemon can run, since a refused start must change
    /// nothing.
    ///
    /// - Parameter socket: nil if the owner has none.
    public func writeHolder(socket: String? = nil) {
        let text = Array("\(getpid())\n\(socket.map { "\($0)\n" } ?? "")".utf8)
        if ftruncate(lock.raw, 0) == 0 { _ = pwrite(lock.raw, text, text.count, 0) }
    }

    /// Returns the absolute path of a file or directory in here.
    public func path(of name: String) -> String { directory.path(of: name) }

    /// Creates a subdirectory (0700) if it does not exist, and opens it.
    public func subdirectory(_ name: String) throws(FileError) -> DirectoryHandle {
        try directory.requireSingleName(name)
        if case .failure(let code) = retryingInterrupts({ mkdirat(directory.descriptor, name, 0o700) }), code != EEXIST
        {
            throw .system(operation: "make the directory", path: path(of: name), code: code)
        }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        switch openDescriptor(at: directory.descriptor, name, flags: flags) {
        case .value(let handle): return try DirectoryHandle(path: path(of: name), handle: handle)
        case .failure(ENOTDIR): throw .notADirectory(path: path(of: name))
        case .failure(let code): throw .system(operation: "open", path: path(of: name), code: code)
        }
    }
}

// MARK: - Steps

extension StateDirectory {
    private static func make(_ path: String) throws(FileError) {
        let place = try ResolvedPath(path)
        if let problem = place.problem { throw problem }
        guard let last = place.missing.last else { return }
        var here = place.existing
        for name in place.missing.dropLast() {
            here = ResolvedPath.join(here, name)
            try make(here, mode: 0o777)
        }
        try make(ResolvedPath.join(here, last), mode: 0o700)
    }

    private static func make(_ path: String, mode: mode_t) throws(FileError) {
        switch retryingInterrupts({ mkdir(path, mode) }) {
        case .value, .failure(EEXIST): return
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code): throw .notWritable(path: path, code: code)
        case .failure(let code): throw .system(operation: "make the directory", path: path, code: code)
        }
    }

    private static func requirePrivate(_ directory: DirectoryHandle) throws(FileError) {
        let facts = FileStatus(try XferFiles.status(of: directory.descriptor, path: directory.path))
        guard facts.owner == geteuid() else {
            let problem = "belongs to uid \(facts.owner), expected this process's uid \(geteuid())"
            throw .insecureStateDirectory(path: directory.path, problem: problem)
        }
        guard facts.mode & 0o022 == 0 else {
            let problem = "has mode \(String(facts.mode, radix: 8)): others may write in it, expected 700"
            throw .insecureStateDirectory(path: directory.path, problem: problem)
        }
    }

    private static func acquireLock(in directory: DirectoryHandle) throws(FileError) -> Descriptor {
        let path = directory.path(of: "lock")
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        let lock: Descriptor
        switch openDescriptor(at: directory.descriptor, "lock", flags: flags, mode: 0o600) {
        case .value(let opened): lock = opened
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code):
            throw .notWritable(path: directory.path, code: code)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
        switch retryingInterrupts({ flock(lock.raw, LOCK_EX | LOCK_NB) }) {
        case .value: break
        case .failure(let code) where code == EWOULDBLOCK:
            let (pid, socket) = holder(of: lock)
            throw .alreadyLocked(path: directory.path, pid: pid, socket: socket)
        case .failure(let code): throw .system(operation: "lock", path: path, code: code)
        }
        return lock
    }

    private static func holder(of lock: Descriptor) -> (pid: Int32?, socket: String?) {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(lock.raw, &bytes, bytes.count, 0)
        guard count > 0 else { return (nil, nil) }
        let lines = bytes[..<count].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        return (lines.first.flatMap { Int32($0, radix: 10) }, lines.count > 1 ? lines[1] : nil)
    }
}
