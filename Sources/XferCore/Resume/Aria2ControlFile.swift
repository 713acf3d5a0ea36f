public import XferModel

/// The file that aria2 keeps next to an unfinished download; it lists the complete pieces (aria2's technical notes,
/// "Control file (*.aria2) format", version 1).
///
/// Pieces in flight count as missing. The file of a torrent is not read.
public struct Aria2ControlFile: Hashable, Sendable {
    /// The suffix of its name.
    public static let suffix = ".aria2"
    /// The length in bytes up to which such a file is read. That is enough for some 60 million pieces.
    public static let mostBytes = 8 << 20

    /// The length of the whole download, in bytes.
    public let totalLength: Int64
    /// The complete segments, ascending; no two of them touch.
    public let segments: [Segment]

    /// Parses the bytes; nil if they are not a control file of this format.
    public init?(_ bytes: some Collection<UInt8>) {
        var rest = Reader(rest: bytes.makeIterator(), count: bytes.count)
        guard rest.number(2) == 1, rest.number(4) != nil, rest.number(4) == 0,
            let pieceLength = rest.number(4), pieceLength > 0, let total = rest.number(8), total > 0,
            rest.number(8) != nil, let fieldLength = rest.number(4), fieldLength <= rest.count
        else { return nil }
        let pieces = (total - 1) / pieceLength + 1
        guard fieldLength == (pieces - 1) / 8 + 1 else { return nil }
        var segments: [Segment] = []
        var byte: Int64 = 0
        for piece in 0..<pieces {
            // The first piece is the highest bit.
            if piece % 8 == 0 { byte = rest.number(1) ?? 0 }
            guard byte & (0x80 >> (piece % 8)) != 0 else { continue }
            let start = piece * pieceLength
            let end = min(total, start.addingSaturated(pieceLength))
            if let last = segments.indices.last, segments[last].committed == start {
                segments[last].committed = end
            } else {
                segments.append(Segment(start: start, committed: end))
            }
        }
        totalLength = total
        self.segments = segments
    }

    /// Reads numbers in network byte order.
    private struct Reader<Rest: IteratorProtocol> where Rest.Element == UInt8 {
        var rest: Rest
        /// The bytes that are left.
        var count: Int

        /// Reads a big-endian number; nil if fewer bytes are left, or if it does not fit.
        mutating func number(_ width: Int) -> Int64? {
            guard count >= width else { return nil }
            count -= width
            var value: UInt64 = 0
            for _ in 0..<width { value = value << 8 | UInt64(clamping: rest.next() ?? 0) }
            return Int64(exactly: value)
        }
    }
}
