import Glibc

/// Writes to standard output, and opens missing standard streams.
public enum StandardOutput {
    /// Writes the whole text to standard output.
    public static func write(_ text: String) throws(StandardOutputError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StandardOutputError(code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Opens standard streams that the parent process closed. Otherwise a file of the daemon could get the number of a
    /// standard stream, and log lines would be written to that file. Call it before the process opens any file.
    public static func openMissing() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // open(2) returns the lowest free number, which is this one. The access mode is the opposite of the
            // stream's use, so that reads of standard input and writes to the other two fail.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

/// Standard output could not be written.
public struct StandardOutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error number, errno(3).
    public let code: Int32

    /// Reports the error on standard error, unless the reader of standard output has closed the pipe.
    public func report() {
        if code != EPIPE { Daemon.complain(description) }
    }

    public var description: String { "cannot write to standard output: \(String(cString: strerror(code)))" }
}
