import XferModel

/// Hands a source's bytes to libcurl in order, as often as it has to be sent.
///
/// Confined to the loop's thread.
final class ContentReader {
    private let source: GuardedSource
    private(set) var position: Int64 = 0
    /// The hop that sends the bytes; nil between requests.
    weak var hop: Hop?

    init(_ source: GuardedSource) { self.source = source }

    var length: Int64 { source.length }

    /// Back to the first byte, for the next request. Throws when the source has changed.
    func rewind() throws(TransferError) {
        position = 0
        try source.check()
    }

    /// libcurl repeats a part by itself; false for a position outside the source.
    func seek(to position: Int64) -> Bool {
        guard (0...length).contains(position) else { return false }
        self.position = position
        return true
    }

    /// Returns how many bytes were put into the buffer; 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        let count = try source.read(at: position, into: buffer)
        position += Int64(clamping: count)
        return count
    }
}
