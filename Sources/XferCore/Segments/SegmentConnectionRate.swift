import XferModel

/// The speed of a connection, from samples of its offset.
struct SegmentConnectionRate: Hashable, Sendable {
    /// Nil until there are two samples.
    private(set) var bytesPerSecond: Double?
    private var last: Moment?

    private struct Moment: Hashable {
        let offset: Int64
        let time: MonotonicInstant
    }

    /// Samples closer to each other are too inexact.
    private static let least = Duration.milliseconds(250)
    /// The weight of the latest sample.
    private static let weight = 0.5

    mutating func addSample(_ offset: Int64, now: MonotonicInstant) {
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
