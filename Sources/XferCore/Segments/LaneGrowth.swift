import XferModel

/// How many lanes a download has: the number that was asked for, or, with `auto`, as many as are seen to make it faster.
///
/// `auto` begins with one. While much is left, it doubles the lanes each time that the last doubling brought a good deal,
/// so that a server, or a line, that one connection fills keeps one, and a short download never splits.
struct LaneGrowth: Hashable, Sendable {
    private enum State: Hashable {
        case fixed
        /// Since when the present number is measured, and what was written then; the rate before it, if there was one.
        case measuring(since: MonotonicInstant, from: Int64?, before: Double?)
    }

    private(set) var lanes: Int
    private var state: State

    /// How long a number of lanes is tried.
    static let trial = Duration.seconds(1)
    /// What would take no longer is not worth more lanes, in seconds.
    static let short = 4.0
    /// Twice the lanes have to be so many times as fast.
    static let gain = 1.2
    static let most = 8

    init(_ count: SegmentCount, now: MonotonicInstant) {
        switch count {
        case .exactly(let number):
            lanes = max(1, number)
            state = .fixed
        case .automatic:
            lanes = 1
            state = .measuring(since: now, from: nil, before: nil)
        }
    }

    mutating func limit(to most: Int) {
        lanes = min(lanes, most)
        state = .fixed
    }

    /// Whether more lanes are wanted than before.
    mutating func note(written: Int64, remaining: Int64, smallest: Int64, now: MonotonicInstant) -> Bool {
        guard case .measuring(let since, let from, let before) = state else { return false }
        guard let from else {
            state = .measuring(since: now, from: written, before: before)
            return false
        }
        let elapsed = since.duration(to: now)
        guard elapsed >= Self.trial else { return false }
        let rate = Double(written - from) / elapsed.inSeconds
        let isWorthIt = before.map { rate >= $0 * Self.gain } ?? true
        let isLong = Double(remaining) > rate * Self.short && remaining >= 4 * smallest
        guard isWorthIt, isLong, lanes < Self.most, rate > 0 else {
            // Nothing at all came: that says nothing.
            state = rate > 0 ? .fixed : .measuring(since: now, from: written, before: before)
            return false
        }
        lanes = min(Self.most, lanes * 2)
        state = .measuring(since: now, from: nil, before: rate)
        return true
    }
}
