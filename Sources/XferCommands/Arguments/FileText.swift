import Glibc
import XferModel

/// Whole small files as text.
enum FileText {
    /// Largest file read, in bytes.
    static let limit = 256 << 20

    /// Reads a file, or standard input for `-`.
    /// - Parameter option: the option with the file, for the error.
    static func read(_ path: String, option: String) throws(CommandFailure) -> String {
        guard let text = String(validating: try bytes(path, option: option), as: UTF8.self) else {
            throw .usage("\(option): \(SafeText.sanitised(path)) is not UTF-8 text")
        }
        return text
    }

    /// Reads the file's bytes, which need not be text.
    static func bytes(_ path: String, option: String) throws(CommandFailure) -> [UInt8] {
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
            guard bytes.count <= limit else {
                throw .usage(
                    "\(option): \(SafeText.sanitised(path)) is larger than \(ByteText.size(Int64(clamping: limit)))")
            }
        }
        return bytes
    }

    private static func failure(_ path: String, _ option: String) -> CommandFailure {
        .usage("\(option): cannot read \(SafeText.sanitised(path)): \(String(cString: strerror(errno)))")
    }
}
