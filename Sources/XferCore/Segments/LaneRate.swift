import XferModel

/// How fast a lane is, from where it was at some moments.
struct LaneRate: Hashable, Sendable {
    /// Nil until two moments are known.
    private(set) var bytesPerSecond: Double?
    private var last: Moment?

    private struct Moment: Hashable {
        let offset: Int64
        let time: MonotonicInstant
    }

    /// Moments closer to each other say little.
    private static let least = Duration.milliseconds(250)
    /// How much the latest stretch counts.
    private static let weight = 0.5

    mutating func note(_ offset: Int64, now: MonotonicInstant) {
        guard let last else {
            last = Moment(offset: offset, time: now)
            return
        }
        let elapsed = last.time.duration(to: now)
        guard elapsed >= Self.least else { return }
        let rate = Double(max(0, offset - last.offset)) / elapsed.inSeconds
        bytesPerSecond = bytesPerSecond.map { $0 + (rate - $0) * Self.weight } ?? rate
        self.last = Moment(offset: offset, time: now)
    }
}
