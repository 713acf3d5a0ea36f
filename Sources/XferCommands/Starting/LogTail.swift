import Glibc

/// The end of a log file.
enum LogTail {
    /// The highest number of bytes that are read from the end.
    private static let longest: off_t = 1 << 20

    /// The last lines of a file; none if it cannot be read.
    ///
    /// - Parameter begin: the place before which nothing is read.
    static func lines(of path: String, count: Int, from begin: off_t = 0) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let end = lseek(descriptor, 0, SEEK_END)
        let start = max(begin, end - longest)
        guard end > start, lseek(descriptor, start, SEEK_SET) == start else { return [] }
        var bytes = [UInt8](repeating: 0, count: Int(clamping: end - start))
        var filled = 0
        while filled < bytes.count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { break }
            filled += read
        }
        let lines = String(decoding: bytes[..<filled], as: UTF8.self).split(separator: "\n").map(String.init)
        return Array(lines.suffix(max(0, count)))
    }

    /// Copies the text that is appended to a file to standard output, until the program is interrupted.
    static func follow(_ path: String) -> Never {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { CommandLineTool.end(.taskFailed) }
        _ = lseek(descriptor, 0, SEEK_END)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var rest: [UInt8] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    Output.standard.line(SafeText.sanitised(String(decoding: rest[..<end], as: UTF8.self)))
                    rest.removeSubrange(...end)
                }
            } else {
                usleep(200_000)
            }
        }
    }
}
