import Glibc

/// The process's standard streams.
public enum StandardOutput {
    /// Writes all of the text.
    public static func write(_ text: String) throws(StandardOutputError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StandardOutputError(code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Opens standard streams that the parent process closed, so that no file of the daemon gets their numbers: log
    /// lines would be written to it. Call it first.
    public static func openMissing() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // open(2) returns the lowest free number, which is this one. Writes to it fail.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

/// Standard output could not be written.
public struct StandardOutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Error number, errno(3).
    public let code: Int32

    /// Reports it on standard error, unless the reader has closed its end.
    public func report() {
        if code != EPIPE { Daemon.complain(description) }
    }

    public var description: String { "cannot write to standard output: \(String(cString: strerror(code)))" }
}
