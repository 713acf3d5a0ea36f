import XferModel

/// The file that aria2 keeps beside an unfinished download: which of its pieces are complete (aria2's technical notes,
/// "Control file (*.aria2) format", version 1).
///
/// Only the pieces before the first one that lacks are of use here, as only they make up the beginning of the file. The
/// file of a torrent is not read.
public struct Aria2ControlFile: Hashable, Sendable {
    /// The suffix of its name.
    public static let suffix = ".aria2"
    /// The length in bytes up to which such a file is read. That is enough for some 60 million pieces.
    public static let mostBytes = 8 << 20

    /// The length of the whole download, in bytes.
    public let totalLength: Int64
    /// The number of bytes before the first piece that is not complete.
    public let leadingLength: Int64

    /// Nil if the bytes are no control file of this format.
    public init?(_ bytes: some Collection<UInt8>) {
        var rest = Reader(rest: bytes.makeIterator(), count: bytes.count)
        guard rest.number(2) == 1, rest.number(4) != nil, rest.number(4) == 0,
            let pieceLength = rest.number(4), pieceLength > 0, let total = rest.number(8), total > 0,
            rest.number(8) != nil, let fieldLength = rest.number(4), fieldLength <= rest.count
        else { return nil }
        let pieces = (total - 1) / pieceLength + 1
        guard fieldLength == (pieces - 1) / 8 + 1 else { return nil }
        var leading: Int64 = 0
        while leading < pieces, let byte = rest.number(1) {
            // The first piece is the highest bit.
            let complete = Int64(clamping: (~UInt8(truncatingIfNeeded: byte)).leadingZeroBitCount)
            leading += complete
            guard complete == 8 else { break }
        }
        totalLength = total
        leadingLength = min(total, min(leading, pieces).multipliedSaturated(by: pieceLength))
    }

    /// Reads numbers in network byte order.
    private struct Reader<Rest: IteratorProtocol> where Rest.Element == UInt8 {
        var rest: Rest
        /// The bytes that are left.
        var count: Int

        /// Nil if fewer bytes are left, or if the number does not fit.
        mutating func number(_ width: Int) -> Int64? {
            guard count >= width else { return nil }
            count -= width
            var value: UInt64 = 0
            for _ in 0..<width { value = value << 8 | UInt64(clamping: rest.next() ?? 0) }
            return Int64(exactly: value)
        }
    }
}
