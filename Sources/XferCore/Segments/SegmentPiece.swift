import XferModel

/// A piece of a download, which at most one connection fetches. The pieces of a `SegmentPlan` are an array of them:
/// ascending, and covering the whole without a gap and without overlapping.
struct SegmentPiece: Hashable, Sendable {
    let start: Int64
    var end: Int64
    /// First offset that is not durable.
    var committed: Int64
    /// First offset that is not written.
    var written: Int64
    /// The connection that fetches it; nil for none.
    var connection: SegmentPlan.Connection? {
        didSet { begun = written }
    }
    /// The first offset that its present connection has to fetch.
    private(set) var begun: Int64 = 0
    /// True if the end of the piece can no longer be changed.
    var isSettled = false
    /// The response of its connection ends with the piece.
    var isBounded = false
    var rate = SegmentConnectionRate()

    init(start: Int64, end: Int64, committed: Int64, written: Int64) {
        (self.start, self.end, self.committed, self.written) = (start, end, committed, written)
    }

    var remaining: Int64 { end - written }
    var isWritten: Bool { written == end }

    /// Bytes of the rest that the connection keeps if the piece is divided into this many equal parts. The bytes it
    /// has received already count: a server may begin every connection with a burst, and the new connections will
    /// get one, too.
    func evenShare(of parts: Int64) -> Int64 { max(0, (end - begun) / parts - (written - begun)) }
}

extension [SegmentPiece] {
    /// The pieces of a download of this length of which some segments are durable.
    static func covering(_ total: Int64, kept: [Segment]) -> Self {
        var pieces: Self = []
        var covered: Int64 = 0
        func add(_ end: Int64, written: Int64) {
            if end > covered {
                pieces.append(SegmentPiece(start: covered, end: end, committed: written, written: written))
            }
            covered = Swift.max(covered, end)
        }
        let useful = kept.filter { $0.committed > $0.start }.sorted { $0.start < $1.start }
        for (index, segment) in useful.enumerated()
        where Swift.min(segment.committed, total) > Swift.max(segment.start, covered) {
            if segment.start > covered { add(segment.start, written: covered) }
            let next = index + 1 < useful.count ? useful[index + 1].start : total
            let committed = Swift.min(segment.committed, total)
            add(
                Swift.min(Swift.max(committed, Swift.min(segment.end ?? next, next)), total), written: committed)
        }
        add(total, written: covered)
        return pieces
    }

    /// Divides a range into equal pieces without a connection and without bytes.
    init(dividing range: Range<Int64>, into count: Int, alignment: Int64) {
        self = []
        var start = range.lowerBound
        for number in 1...count {
            let even =
                range.lowerBound + (range.upperBound - range.lowerBound) / Int64(clamping: count)
                * Int64(clamping: number)
            let end = number == count ? range.upperBound : even / alignment * alignment
            guard end > start else { continue }
            append(SegmentPiece(start: start, end: end, committed: start, written: start))
            start = end
        }
    }

    /// The first offset that a piece has not reached; nil if all have reached their ends.
    func firstMissing(_ reached: KeyPath<SegmentPiece, Int64>) -> Int64? {
        first { $0[keyPath: reached] < $0.end }?[keyPath: reached]
    }

    /// The written bytes in as few segments as possible, none of them empty.
    var writtenSegments: [Segment] {
        var segments: [Segment] = []
        for piece in self where piece.written > piece.start {
            if let last = segments.last, last.committed == piece.start {
                segments[segments.count - 1].end = piece.end
                segments[segments.count - 1].committed = piece.written
            } else {
                segments.append(Segment(start: piece.start, end: piece.end, committed: piece.written))
            }
        }
        return segments
    }

    /// Merges neighbouring pieces that are durable; otherwise their number would grow without bound.
    mutating func joinDurable() {
        var joined: Self = []
        for piece in self {
            if let last = joined.last, last.committed == last.end, piece.committed == piece.end,
                piece.connection == nil,
                last.connection == nil
            {
                joined[joined.count - 1] = SegmentPiece(
                    start: last.start, end: piece.end, committed: piece.committed, written: piece.written)
            } else {
                joined.append(piece)
            }
        }
        self = joined
    }
}

extension [Segment] {
    /// The bytes of these segments, which ascend and may overlap, in as few segments as possible, which do not.
    static func joining(_ segments: [Segment], total: Int64) -> [Segment] {
        var joined: [Segment] = []
        for segment in segments {
            if let last = joined.last, segment.start <= last.committed {
                joined[joined.count - 1].committed = Swift.max(last.committed, segment.committed)
            } else {
                joined.append(segment)
            }
        }
        for index in joined.indices {
            joined[index].end = index + 1 < joined.count ? joined[index + 1].start : total
        }
        return joined
    }
}
