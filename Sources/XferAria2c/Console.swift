import Glibc
import XferAria2

/// The program's standard streams and files.
enum Console {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    static func print(_ text: String) { write(STDOUT_FILENO, text + "\n") }

    static func complain(_ text: String) { write(STDERR_FILENO, "xfer-aria2c: \(ProgressText.printable(text))\n") }

    /// Replaces the terminal's line.
    static func progress(_ text: String) { write(STDOUT_FILENO, "\r\u{1B}[K\(text)") }

    private static func write(_ descriptor: Int32, _ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Most bytes of a file that the command names.
    private static let maxFile = 64 * 1024 * 1024

    /// Reads a file, or standard input for `-`.
    static func read(_ path: String) throws(Aria2Fault) -> String {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Aria2Fault("\(path): \(String(cString: strerror(errno)))") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Aria2Fault("\(path): \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= maxFile else { throw Aria2Fault("\(path): longer than \(maxFile) bytes") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Aria2Fault("\(path): it is no UTF-8") }
        return text
    }
}

/// A pipe that becomes readable when SIGINT or SIGTERM arrives. A second signal ends the program.
struct SignalDescriptor {
    let descriptor: Int32

    /// Nil if there is none: then the signals end the program, and downloads go on.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        signalWriteEnd = ends[1]
        for signal in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                // Async-signal-safe: one write(2), errno kept (signal-safety(7)).
                let savedErrno = errno
                var byte: UInt8 = 0
                _ = write(signalWriteEnd, &byte, 1)
                errno = savedErrno
            }
            action.sa_flags = SA_RESTART | Int32(bitPattern: SA_RESETHAND)
            sigaction(signal, &action, nil)
        }
    }
}

/// Set before the handlers are installed and never changed afterwards.
nonisolated(unsafe) private var signalWriteEnd: Int32 = -1
