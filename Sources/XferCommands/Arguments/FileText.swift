import Glibc
import XferClient
import XferModel

/// Whole small files as text.
enum FileText {
    /// Largest file read, in bytes.
    static let limit = 256 << 20
    /// Largest content that is sent within a message, in bytes of JSON. The rest of the longest message is for the other
    /// fields.
    static let contentLimit = XferConnection.messageLimit - 64 << 10

    /// Reads a file, or standard input for `-`.
    /// - Parameter option: the option with the file, for the error.
    static func read(_ path: String, option: String) throws(CommandFailure) -> String {
        guard let text = String(validating: try bytes(path, option: option), as: UTF8.self) else {
            throw .usage("\(option): \(SafeText.sanitised(path)) is not UTF-8 text")
        }
        return text
    }

    /// Reads the part of a message that comes from standard input.
    /// - Parameter remedy: the other way for content that is too long.
    static func content(option: String, _ remedy: String) throws(CommandFailure) -> [UInt8] {
        try bytes("-", option: option, limit: contentLimit, tooLong(option: option, remedy))
    }

    /// The failure for content that does not fit into a message.
    static func tooLong(option: String, _ remedy: String) -> CommandFailure {
        .usage("\(option): the content is too long for one message; \(remedy)")
    }

    /// Reads the file's bytes, which need not be text.
    static func bytes(_ path: String, option: String) throws(CommandFailure) -> [UInt8] {
        let size = ByteText.size(Int64(clamping: limit))
        return try bytes(
            path, option: option, limit: limit,
            .usage("\(option): \(SafeText.sanitised(path)) is larger than \(size)"))
    }

    private static func bytes(
        _ path: String, option: String, limit: Int, _ tooLong: CommandFailure
    ) throws(CommandFailure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, option) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, option) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw tooLong }
        }
        return bytes
    }

    private static func failure(_ path: String, _ option: String) -> CommandFailure {
        .usage("\(option): cannot read \(SafeText.sanitised(path)): \(String(cString: strerror(errno)))")
    }
}
