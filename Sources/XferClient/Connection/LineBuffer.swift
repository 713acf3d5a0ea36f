import Glibc

/// Splits a stream of bytes into lines. It searches each byte only once.
struct LineBuffer {
    private(set) var bytes: [UInt8] = []
    /// Offset of the first line that was not returned yet.
    private var start = 0
    /// The offset from `start` up to which there is no line break.
    private var searched = 0
    /// The highest number of bytes of a line.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Appends to the buffer by calling `fill`.
    mutating func append<E: Error>(_ fill: (inout [UInt8]) throws(E) -> Bool) throws(E) -> Bool {
        try fill(&bytes)
    }

    /// The next complete line without its line break; nil while there is none.
    mutating func nextLine() throws(ConnectionError) -> ArraySlice<UInt8>? {
        guard let end = nextLineBreak else {
            searched = bytes.count
            guard bytes.count - start <= limit else { throw .messageTooLong(limit: limit) }
            compact()
            return nil
        }
        let line = bytes[start..<end]
        guard line.count <= limit else { throw .messageTooLong(limit: limit) }
        start = end + 1
        searched = start
        return line
    }

    private var nextLineBreak: Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, searched < buffer.count else { return nil }
            return memchr(base + searched, 0x0A, buffer.count - searched).map {
                $0 - UnsafeMutableRawPointer(mutating: base)
            }
        }
    }

    private mutating func compact() {
        bytes.removeFirst(start)
        searched -= start
        start = 0
    }
}
