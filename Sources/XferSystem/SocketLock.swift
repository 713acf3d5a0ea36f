import Glibc

/// A lock that shows that a daemon starts or runs behind a Unix socket, even before the socket exists.
///
/// It is a lock (fcntl(2), F_SETLK) on the file `SOCKET.lock`. The kernel releases it when the process ends in any way.
public struct SocketLock: Sendable {
    private let path: String
    private let descriptor: CInt

    private static func file(of socket: String) -> String { socket + ".lock" }

    /// Takes the lock, which lasts until `release` or the end of the process. Returns nil if another process has it.
    ///
    /// - Throws: `SystemCallError`, if the file cannot be created next to the socket.
    public static func acquire(forSocket socket: String) throws(SystemCallError) -> SocketLock? {
        let path = file(of: socket)
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
            guard descriptor >= 0 else { throw SystemCallError("open", on: path) }
            var lock = request(F_WRLCK)
            guard fcntl(descriptor, F_SETLK, &lock) == 0 else {
                let code = errno
                _ = Glibc.close(descriptor)
                if code == EACCES || code == EAGAIN { return nil }
                throw SystemCallError("fcntl", on: path, code: code)
            }
            // The former holder may have removed the file between the two calls.
            var (opened, named) = (stat(), stat())
            if fstat(descriptor, &opened) == 0, lstat(path, &named) == 0, opened.st_ino == named.st_ino,
                opened.st_dev == named.st_dev
            {
                return SocketLock(path: path, descriptor: descriptor)
            }
            _ = Glibc.close(descriptor)
        }
    }

    /// Removes the file and releases the lock. Call it once.
    public func release() {
        _ = unlink(path)
        _ = Glibc.close(descriptor)
    }

    /// True if a daemon has the lock. Also false if the lock's state cannot be determined.
    public static func isTaken(forSocket socket: String) -> Bool {
        let descriptor = open(file(of: socket), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { _ = Glibc.close(descriptor) }
        var lock = request(F_RDLCK)
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(clamping: F_UNLCK)
    }

    private static func request(_ type: CInt) -> Glibc.flock {
        var lock = Glibc.flock()
        lock.l_type = Int16(clamping: type)
        lock.l_whence = Int16(clamping: SEEK_SET)
        return lock
    }
}
