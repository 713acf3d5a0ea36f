/// Counts of observations by their size: a histogram with fixed bounds.
public struct Distribution: Hashable, Sendable {
    /// The inclusive upper bounds of all buckets except the last, which has none; ascending.
    public let bounds: [Double]
    /// Observations by bucket, not cumulative; one more than there are bounds.
    public private(set) var counts: [Int64]
    public private(set) var sum = 0.0

    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// The number of observations.
    public var count: Int64 { counts.reduce(0) { $0.addingSaturated($1) } }

    /// Adds an observation. A value that is not finite is ignored, because a sum never recovers from it.
    public mutating func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[bucket] = counts[bucket].addingSaturated(1)
        sum += value
    }

    /// Adds a duration in seconds.
    public mutating func record(_ duration: Duration) { record(duration.inSeconds) }
}
