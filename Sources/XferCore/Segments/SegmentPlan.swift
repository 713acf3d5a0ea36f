public import XferModel

/// Decides which part of a download each of its connections fetches, and records the durable bytes of each part.
///
/// A connection is one request at a time. The pieces cover the whole from the first byte to the last without a gap and
/// without overlapping; each has at most one connection, and a connection has at most one piece. So no byte is fetched
/// by two connections, and no written byte is fetched again, except after `collapse`. A connection without work takes a
/// piece that has no connection, else the rear of the piece that will take longest. The connection of that piece has to
/// agree first, since it may have received those bytes meanwhile.
///
/// Until the server has sent a range as requested, only the last piece is split off: if the server does not support
/// ranges, the connection that requested the whole can still get all of it.
///
/// The plan only decides; the caller acts and reports the result. The steps of one plan are taken one after the other:
/// between a `split` or `extend` and its answer the caller requests nothing else. `SegmentPiece` records the bytes of a
/// piece. Class of origin: aria2's SegmentMan.
public struct SegmentPlan: Hashable, Sendable {
    /// Identifies a connection: 0 …, the lowest free number first.
    public typealias Connection = Int

    /// The next step of a connection without work.
    public enum Step: Hashable, Sendable {
        /// Request the rest of this segment; the connection owns the piece from now on.
        case fetch(Segment)
        /// The other connection should stop at this offset. The rest of its piece becomes `parts` − 1 pieces: answer
        /// with `onSplit`, then request the next step.
        case split(Connection, at: Int64, parts: Int)
    }

    /// Complete length in bytes.
    public let total: Int64
    /// Ascending, covering 0 ..< total.
    private(set) var pieces: [SegmentPiece]
    private var growth: SegmentConnectionGrowth
    /// What each connection has received, by its number.
    private var received: [SegmentConnectionTotal] = []
    /// True if the server sent a range as requested.
    public private(set) var isProven = false
    /// The speed of the connection that ended last.
    private var lastRate: Double?
    /// The length in bytes of the smallest piece that is split off.
    private let smallest: Int64

    /// The written bytes after the position of the single stream of `collapse`, which receives them again. They are of
    /// the same version, so they stay valid while it writes over them.
    private var behind: [Segment] = []

    /// The alignment of the pieces' ends in bytes, so that only one connection writes to a page of the file.
    private let alignment: Int64

    /// If a connection would take longer than this for the rest of its piece, in seconds, its rear is taken even if it
    /// is small.
    static let slow = 8.0

    /// The time that a connection needs until it is about as fast as the others, in round trips.
    static let beginning = 4.0

    /// A connection that is slower than the others by this factor returns its piece; see `laggard`.
    static let farBelow = 8.0
    /// The number of measurements before a connection counts as slow: connecting takes time.
    private static let leastMeasurements = 4
    /// The highest number of pieces that are taken from slow connections: each costs a request. After that, slow
    /// connections keep their pieces.
    private static let mostTakeovers = 8
    private var takeovers = 0

    /// - Parameters:
    ///   - total: complete length.
    ///   - kept: the durable bytes, in any state that a crash may leave.
    ///   - count: the number of connections to use.
    ///   - smallest: the length in bytes of the smallest piece that is split off.
    public init(total: Int64, kept: [Segment] = [], count: SegmentCount, smallest: Int64 = 1 << 20) {
        self.init(total: total, kept: kept, count: count, smallest: smallest, alignment: 4096)
    }

    init(total: Int64, kept: [Segment], count: SegmentCount, smallest: Int64, alignment: Int64) {
        self.total = max(0, total)
        self.alignment = alignment
        self.smallest = max(alignment, smallest)
        growth = SegmentConnectionGrowth(count)
        pieces = .covering(self.total, kept: kept)
    }

    // MARK: How far it is

    /// The wanted number of connections; there may be too little work for all of them.
    public var wantedConnections: Int { growth.connections }

    /// True if every byte was written.
    public var isWritten: Bool { pieces.allSatisfy(\.isWritten) }

    /// The number of bytes that were written.
    public var writtenByteCount: Int64 { pieces.reduce(0) { $0 + $1.written - $1.start } }

    /// The number of bytes from the beginning that are written without a gap.
    public var writtenPrefix: Int64 { pieces.firstMissing(\.written) ?? total }

    /// The number of bytes that are durable.
    public var committedByteCount: Int64 { pieces.reduce(0) { $0 + $1.committed - $1.start } }

    /// Segments that are written, to be made durable and then passed to `onDurable`: as few as possible, none of them
    /// empty.
    public var writtenSegments: [Segment] {
        behind.isEmpty ? pieces.writtenSegments : .joining(pieces.writtenSegments + behind, total: total)
    }

    /// The first offset of the connection's piece that is not durable; nil when it has no piece.
    public func committed(of connection: Connection) -> Int64? {
        pieces.first { $0.connection == connection }?.committed
    }

    // MARK: What connections do

    /// Records that the connection begins a request for the whole. It continues the first piece, which is the only one.
    public mutating func begin(_ connection: Connection) {
        guard let index = pieces.firstIndex(where: { !$0.isWritten }) else { return }
        assign(index, to: connection)
    }

    /// The next step of a connection that has no piece; nil when there is no work for it now.
    ///
    /// - Parameter idle: connections without work, this one included.
    public mutating func next(for connection: Connection, idle: Int) -> Step? {
        if let index = pieces.firstIndex(where: { $0.connection == nil && !$0.isWritten }) {
            assign(index, to: connection)
            let piece = pieces[index]
            return .fetch(Segment(start: piece.start, end: piece.end, committed: piece.written))
        }
        let rate = meanRate
        if !isProven, pieces.count(where: { $0.connection != nil }) > 1 { return nil }
        let candidates = pieces.filter { $0.connection != nil && !$0.isSettled && $0.remaining >= 2 * least(for: $0) }
        guard let victim = candidates.max(by: { restTime($0, rate) < restTime($1, rate) }),
            let owner = victim.connection
        else {
            return nil
        }
        if !isProven {
            let share = (victim.end - victim.begun) / Int64(clamping: max(2, wantedConnections))
            let rear = max(
                alignment,
                growth.trialPiece(for: connection, smallest: smallest).map { min(share, $0) }
                    ?? max(share, least(for: victim)))
            return .split(owner, at: aligned(victim.end - rear, in: victim), parts: 2)
        }
        let parts = min(Int64(clamping: max(1, idle)) + 1, victim.remaining / least(for: victim))
        var at = cut(victim, parts: parts, rate)
        if let piece = growth.trialPiece(for: connection, smallest: smallest) {
            let (rear, isTooLong) = max(piece, alignment).multipliedReportingOverflow(by: parts - 1)
            if !isTooLong, rear < victim.end - at { at = aligned(victim.end - rear, in: victim) }
        }
        return .split(owner, at: at, parts: Int(clamping: parts))
    }

    /// The answer to `split`: whether the other connection will stop there.
    public mutating func onSplit(_ connection: Connection, at offset: Int64, parts: Int, isAgreed: Bool) {
        guard let index = pieces.firstIndex(where: { $0.connection == connection }) else { return }
        guard isAgreed, offset > pieces[index].start, offset < pieces[index].end else {
            pieces[index].isSettled = true
            return
        }
        let end = pieces[index].end
        pieces[index].end = offset
        let rest = [SegmentPiece](dividing: offset..<end, into: max(1, parts - 1), alignment: alignment)
        pieces.insert(contentsOf: rest, at: index + 1)
    }

    /// Records that the server sent the connection's range as requested: the end of its piece can be changed.
    public mutating func onAnswer(_ connection: Connection) {
        isProven = true
        guard let index = pieces.firstIndex(where: { $0.connection == connection }) else { return }
        pieces[index].isSettled = false
        pieces[index].isBounded = false
    }

    /// Records that the connection's request has ended, and has written up to this offset.
    public mutating func onEnd(_ connection: Connection, at offset: Int64) {
        onWritten(connection, to: offset)
        guard let index = pieces.firstIndex(where: { $0.connection == connection }) else { return }
        pieces[index].connection = nil
        pieces[index].isSettled = false
        pieces[index].isBounded = false
        lastRate = pieces[index].rate.bytesPerSecond ?? lastRate
        pieces[index].rate = SegmentConnectionRate()
    }

    /// Records that the connection has written up to this offset; an offset outside its piece is ignored.
    public mutating func onWritten(_ connection: Connection, to offset: Int64) {
        guard let index = pieces.firstIndex(where: { $0.connection == connection }) else { return }
        guard offset > pieces[index].written, offset <= pieces[index].end else { return }
        received[connection].bytes += offset - pieces[index].written
        pieces[index].written = offset
    }

    /// Records that these segments, returned by `writtenSegments` earlier, are durable now.
    public mutating func onDurable(_ segments: [Segment]) {
        for index in pieces.indices {
            for segment in segments where segment.start <= pieces[index].start {
                pieces[index].committed = max(pieces[index].committed, min(segment.committed, pieces[index].written))
            }
        }
        pieces.joinDurable()
    }

    /// Measures the connections. Returns true if the wanted number of connections has changed.
    public mutating func measure(_ now: MonotonicInstant) -> Bool {
        for index in pieces.indices where pieces[index].connection != nil {
            pieces[index].rate.addSample(pieces[index].written, now: now)
        }
        return growth.measure(
            received, remaining: total - writtenByteCount, smallest: smallest, now: now)
    }

    /// True if `measure` may still change the wanted number of connections: call it often.
    public var isMeasuring: Bool { growth.isMeasuring }

    /// Records the duration of a round trip to the server, or a longer one.
    public mutating func onRoundTrip(_ duration: Duration) { growth.onRoundTrip(duration) }

    // MARK: Fewer connections

    /// Connections beyond the wanted number, which have to end now; the caller reports their end with `onEnd`.
    ///
    /// Connections at the rear are chosen, since a reader waits for the front. A connection that has nearly finished
    /// its piece is not stopped.
    public var surplus: [Connection] {
        guard growth.closesSurplus else { return [] }
        let live = pieces.filter { $0.connection != nil }
        return live.suffix(max(0, live.count - wantedConnections)).filter { $0.remaining > smallest }.compactMap(
            \.connection)
    }

    /// Removes and returns a connection that would delay the end while another one has no work: it is far slower than
    /// the others, and its piece is too small to be divided. The caller ends it, and reports its end with `onEnd`; the
    /// whole rest is assigned to another connection. It counts as taken over.
    ///
    /// - Parameter ended: bytes per second of the fastest connection that has ended. It may have ended before it could
    ///   be measured, and all remaining ones may be slow.
    public mutating func removeLaggard(ended: Double? = nil) -> Connection? {
        guard takeovers < Self.mostTakeovers, pieces.allSatisfy({ $0.connection != nil || $0.isWritten }) else {
            return nil
        }
        for piece in pieces where !piece.isWritten {
            guard let connection = piece.connection, let rate = piece.rate.bytesPerSecond,
                piece.rate.measurements >= Self.leastMeasurements,
                Double(piece.remaining) > max(1, rate) * Self.slow,
                rate * Self.farBelow < max(meanRate(besides: connection) ?? 0, ended ?? 0)
            else { continue }
            takeovers += 1
            return connection
        }
        return nil
    }

    /// Limits the connections to the number that the server accepts.
    public mutating func limit(to connections: Int) { growth.limit(to: max(1, connections)) }

    /// A connection that could continue over the untouched pieces after its own, and where it would end: answer with
    /// `onExtend`. Use it when no other connection will be available for these pieces.
    public func widening() -> (connection: Connection, end: Int64)? {
        for (index, piece) in pieces.enumerated() {
            guard let connection = piece.connection, !piece.isBounded else { continue }
            let following = pieces[(index + 1)...].prefix { $0.connection == nil && $0.written == $0.start }
            if let last = following.last { return (connection, last.end) }
        }
        return nil
    }

    /// The answer to `widening`: whether the connection continues to this offset.
    public mutating func onExtend(_ connection: Connection, to end: Int64, isAgreed: Bool) {
        guard let index = pieces.firstIndex(where: { $0.connection == connection }) else { return }
        guard isAgreed else {
            pieces[index].isBounded = true
            return
        }
        let count = pieces[(index + 1)...].prefix { $0.end <= end }.count
        pieces.removeSubrange(index + 1..<index + 1 + count)
        pieces[index].end = end
    }

    /// Returns to one stream from the first missing byte to the last, over anything that was written after it: for a
    /// server that does not support ranges. No connection may have a piece. The bytes written after it stay in
    /// `writtenSegments`: if the stream breaks off, they are not lost.
    public mutating func collapse() {
        let (written, committed) = (writtenPrefix, pieces.firstMissing(\.committed) ?? total)
        growth.limit(to: 1)
        // A checkpoint that is under way may have committed bytes that the plan does not know to be durable.
        behind = writtenSegments.filter { $0.committed > written }
        pieces = [SegmentPiece(start: 0, end: total, committed: committed, written: written)]
    }
}

extension SegmentPlan {
    private mutating func assign(_ index: Int, to connection: Connection) {
        pieces[index].connection = connection
        while received.count <= connection { received.append(SegmentConnectionTotal()) }
        received[connection].pieces += 1
    }

    /// Bytes per second of a connection, on average; nil while nothing is known.
    private var meanRate: Double? {
        let known = pieces.compactMap(\.rate.bytesPerSecond) + (lastRate.map { [$0] } ?? [])
        return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
    }

    /// The average rate of the other connections and of the one that ended last.
    private func meanRate(besides connection: Connection) -> Double? {
        let known =
            pieces.filter { $0.connection != connection }.compactMap(\.rate.bytesPerSecond)
            + (lastRate.map { [$0] } ?? [])
        return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
    }

    /// Seconds to the piece's end, or, while no rate is known, a number that grows with what remains.
    private func restTime(_ piece: SegmentPiece, _ mean: Double?) -> Double {
        Double(piece.remaining) / max(1, piece.rate.bytesPerSecond ?? mean ?? 1)
    }

    /// The smallest number of bytes that is worth a request of its own.
    private func least(for piece: SegmentPiece) -> Int64 {
        guard let rate = piece.rate.bytesPerSecond else { return smallest }
        let isSlow = Double(piece.remaining) / max(1, rate) > Self.slow
        // Its connection would have fetched them before another one begins.
        let meanwhile = min(total, Int64(saturating: rate * Self.beginning * (growth.roundTrip ?? 0)))
        return max(isSlow ? max(alignment, smallest / 8) : smallest, meanwhile)
    }

    /// The offset at which a piece is cut so that all its parts take about as long.
    private func cut(_ piece: SegmentPiece, parts: Int64, _ mean: Double?) -> Int64 {
        let least = least(for: piece)
        func within(_ front: Int64) -> Int64 { min(max(front, least), piece.remaining - least) }
        guard let own = piece.rate.bytesPerSecond ?? mean, own > 0 else {
            return aligned(piece.written + within(piece.evenShare(of: parts)), in: piece)
        }
        let others = (mean ?? own) * Double(parts - 1)
        let late = others * Self.beginning * (growth.roundTrip ?? 0)
        let front = within(Int64(saturating: (Double(piece.remaining) + late) * own / (own + others)))
        return aligned(piece.written + front, in: piece)
    }

    private func aligned(_ offset: Int64, in piece: SegmentPiece) -> Int64 {
        let lower = offset / alignment * alignment
        return lower > piece.written ? lower : offset
    }
}
