import Glibc

/// Prompts for a password on the controlling terminal without showing the typed characters.
enum PasswordPrompt {
    enum Outcome: Equatable, Sendable {
        case entered(String)
        /// Ctrl-C or end of input.
        case interrupted
        /// There is no terminal for the prompt.
        case unavailable
    }

    /// Longest password taken, in bytes.
    static let limit = 1024

    static func readPassword(_ prompt: String, terminalPath: String = "/dev/tty") -> Outcome {
        let descriptor = open(terminalPath, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return .unavailable }
        defer { close(descriptor) }
        guard let mode = TerminalMode(readingKeysFrom: descriptor, keepsSignals: false) else { return .unavailable }
        defer { mode.restore() }
        let output = Output(descriptor: descriptor)
        output.write(prompt)
        defer { output.write("\n") }
        var line = PasswordLine()
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1 else { return .interrupted }
            if let outcome = line.onKey(byte) { return outcome }
        }
    }
}

/// Edits a line that is not shown: backspace deletes a character, Ctrl-U the whole line.
struct PasswordLine {
    private var bytes: [UInt8] = []

    mutating func onKey(_ key: UInt8) -> PasswordPrompt.Outcome? {
        switch key {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .entered(String(decoding: bytes, as: UTF8.self))
        case 3, 4: return .interrupted
        case 8, 127: eraseCharacter()
        case 21: bytes = []
        default: if bytes.count < PasswordPrompt.limit { bytes.append(key) }
        }
        return nil
    }

    private mutating func eraseCharacter() {
        while let byte = bytes.popLast(), byte & 0xc0 == 0x80 {}
    }
}
