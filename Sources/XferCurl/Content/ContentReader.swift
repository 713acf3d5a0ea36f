import XferModel

/// Hands a source's bytes to libcurl in order, as often as it has to be sent.
///
/// Confined to the loop's thread.
final class ContentReader {
    private let source: GuardedSource
    private(set) var position: Int64 = 0
    /// Whose request the bytes are for; nil between requests.
    weak var exchange: Exchange?

    init(_ source: GuardedSource) { self.source = source }

    var length: Int64 { source.length }

    /// Back to the first byte, for the next request. Throws when the source is not what it is said to be.
    func rewind() throws(TransferError) {
        position = 0
        try source.check()
    }

    /// libcurl sends something again by itself; false for a position that is not within the source.
    func seek(to position: Int64) -> Bool {
        guard (0...length).contains(position) else { return false }
        self.position = position
        return true
    }

    /// How many bytes were put into the buffer; 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        let count = try source.read(at: position, into: buffer)
        position += Int64(clamping: count)
        return count
    }
}
