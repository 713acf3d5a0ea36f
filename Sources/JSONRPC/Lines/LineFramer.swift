import Glibc
import NIOCore

/// Splits a stream of bytes into lines. It buffers at most one line of the allowed length and the bytes read with it.
struct LineFramer {
    enum Frame: Hashable {
        /// A line without its end (LF or CR LF).
        case line([UInt8])
        /// More than the limit without a line end.
        case tooLong
    }

    private let limit: Int
    private var buffer = ByteBuffer()
    /// Number of bytes of `buffer` that are known to have no line end.
    private var searched = 0

    init(limit: Int) { self.limit = limit }

    /// The number of bytes that were not returned yet.
    var count: Int { buffer.readableBytes }

    /// True if every byte was returned.
    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
            searched = 0
        } else {
            var bytes = bytes
            buffer.writeBuffer(&bytes)
        }
    }

    /// The next whole line; nil when more bytes are needed.
    mutating func next() -> Frame? {
        guard let length = lengthOfFirstLine() else {
            searched = buffer.readableBytes
            if searched > limit + 1 { return .tooLong }
            shrink()
            return nil
        }
        searched = 0
        var line = buffer.readBytes(length: length) ?? []
        buffer.moveReaderIndex(forwardBy: 1)
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line.count > limit ? .tooLong : .line(line)
    }

    /// The bytes after the last line end, when the input has ended.
    mutating func rest() -> [UInt8] {
        defer { buffer = ByteBuffer() }
        return Array(buffer.readableBytesView)
    }

    private func lengthOfFirstLine() -> Int? {
        buffer.withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count > searched else { return nil }
            guard let end = memchr(start + searched, 0x0A, bytes.count - searched) else { return nil }
            return UnsafeRawPointer(end) - start
        }
    }

    /// Releases a large buffer with little content: otherwise 256 clients with half a line each would keep one apiece.
    private mutating func shrink() {
        guard buffer.capacity > 4096, buffer.readableBytes < buffer.capacity / 4 else { return }
        buffer = buffer.readableBytes == 0 ? ByteBuffer() : ByteBuffer(bytes: buffer.readableBytesView)
    }
}
