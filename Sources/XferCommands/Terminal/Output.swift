import Glibc
import StrictJSON

/// One of the process's output streams, written without buffering so that text printed before a signal is not lost.
///
/// Nothing here escapes text: callers pass text of servers and files through `SafeText` first.
struct Output: Sendable {
    let descriptor: Int32

    static let standard = Output(descriptor: STDOUT_FILENO)
    static let error = Output(descriptor: STDERR_FILENO)
    /// Writes nothing.
    static let discarding = Output(descriptor: -1)

    /// The `errno` of the first write to standard output that failed; 0 until one does. Unguarded: commands run, and
    /// write, on the program's one thread.
    nonisolated(unsafe) private static var firstFailure: Int32 = 0

    /// The failure of a command that lost some of its output, as on a full disk; nil if there is none.
    static var failure: CommandFailure? {
        guard firstFailure != 0 else { return nil }
        let problem = String(cString: strerror(firstFailure))
        return CommandFailure(.taskFailed, "cannot write to standard output: \(problem)")
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// True if standard output no longer has a reader: the other end of its pipe is closed (poll(2), POLLERR).
    static var hasLostReader: Bool {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) == 1 && Int32(clamping: output.revents) & POLLERR != 0
    }

    func line(_ text: String) { write(text + "\n") }

    /// Writes JSON as one line. Characters that would garble a terminal are escaped, which does not change the value.
    func document(_ value: JSONValue) { line(SafeText.escaped(json: value.text)) }

    /// Writes everything or fails, which `failure` reports at the end: waiting for a transfer continues meanwhile. A
    /// closed pipe ends the program.
    func write(_ text: String) {
        guard descriptor >= 0 else { return }
        var text = text
        text.withUTF8 { buffer in
            var rest = UnsafeRawBufferPointer(buffer)
            while let base = rest.baseAddress, !rest.isEmpty {
                let count = Glibc.write(descriptor, base, rest.count)
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    let code = errno
                    // A reader that has seen enough, such as head(1), is no failure.
                    if descriptor == STDOUT_FILENO, code == EPIPE { CommandLineTool.end(.done) }
                    if descriptor == STDOUT_FILENO, Self.firstFailure == 0 { Self.firstFailure = code }
                    return
                }
            }
        }
    }
}

/// An output for bytes that are not text for people.
struct ByteOutput {
    let descriptor: Int32
    let name: String
    /// True if bytes that would garble a person's terminal are refused.
    private let sparesTerminal: Bool

    /// - Parameters:
    ///   - path: nil is standard output.
    ///   - sparesTerminal: refuses bytes that are not text if standard output is a terminal.
    init(path: String?, sparesTerminal: Bool = false) throws(CommandFailure) {
        self.sparesTerminal = sparesTerminal && path == nil && isatty(STDOUT_FILENO) == 1
        guard let path else {
            (descriptor, name) = (STDOUT_FILENO, "standard output")
            return
        }
        name = SafeText.sanitised(path)
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("cannot write to") }
    }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        guard !sparesTerminal || PlainBytes.areText(bytes) else {
            throw .usage(
                "the bytes are not text; write them to a file (> FILE), or pipe them into `cat` to see them anyway")
        }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if errno != EINTR {
                throw failure("cannot write to")
            }
        }
    }

    func close() throws(CommandFailure) {
        if descriptor != STDOUT_FILENO, Glibc.close(descriptor) != 0 { throw failure("cannot close") }
    }

    private func failure(_ what: String) -> CommandFailure {
        CommandFailure(.taskFailed, "\(what) \(name): \(String(cString: strerror(errno)))")
    }
}

/// Distinguishes text for people from other bytes.
enum PlainBytes {
    /// True if a terminal shows the bytes unchanged: UTF-8 without control characters beyond white space.
    ///
    /// The bytes may begin and end within a character, as a page of a file does.
    static func areText(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(where: { $0 < 0x20 && !(8...13).contains($0) || $0 == 0x7f }) else { return false }
        let start = bytes.prefix(3).prefix { $0 & 0xc0 == 0x80 }.count
        let whole = bytes.dropFirst(start)
        let text = (0...min(3, whole.count)).lazy
            .compactMap { String(validating: whole.dropLast($0), as: UTF8.self) }.first
        // C1 controls, which terminals obey as well.
        return text.map { !$0.unicodeScalars.contains { (0x80..<0xa0).contains($0.value) } } ?? false
    }
}
