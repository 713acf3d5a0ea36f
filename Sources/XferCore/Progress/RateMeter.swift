public import XferModel

/// A transfer's rate in bytes per second, smoothed exponentially over about `window`.
public struct RateMeter: Sendable {
    /// The time after which an old rate counts for about a third.
    private let window: Duration
    private var last: (at: MonotonicInstant, bytes: Int64)?
    private var smoothed: Double?

    public init(window: Duration = .seconds(3)) { self.window = window }

    /// The present rate; 0 until two samples were taken.
    public var rate: Int64 { min(Int64(saturating: (smoothed ?? 0).rounded()), ByteCount.greatest) }

    /// Adds a sample of the bytes so far. If the count is lower than before, the meter starts again. A second sample at
    /// the same instant is ignored; the next one includes its bytes.
    public mutating func sample(_ bytes: Int64, at now: MonotonicInstant) {
        let elapsed = last.map { $0.at.duration(to: now).inSeconds }
        if let elapsed, elapsed <= 0 { return }
        defer { last = (now, bytes) }
        guard let last, let elapsed else { return }
        guard bytes >= last.bytes else {
            smoothed = nil
            return
        }
        let current = Double(bytes.subtractingSaturated(last.bytes)) / elapsed
        let weight = min(1, elapsed / window.inSeconds)
        smoothed = smoothed.map { $0 + (current - $0) * weight } ?? current
    }

}
