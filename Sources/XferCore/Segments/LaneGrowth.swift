import XferModel

/// How many lanes a download has: the number that was asked for, or, with `auto`, as many as are seen to make it faster.
///
/// `auto` begins with one. While much is left, it doubles the lanes, measures what that brings, and takes the last doubling
/// back if it brought too little: a server, or a line, that one connection fills gets one, and a short download never splits.
struct LaneGrowth: Hashable, Sendable {
    private enum State: Hashable {
        case fixed
        case measuring(Trial)
    }

    /// A number of lanes under test.
    private struct Trial: Hashable {
        struct Former: Hashable {
            let lanes: Int
            /// Bytes per second.
            let rate: Double
        }

        struct Start: Hashable {
            let time: MonotonicInstant
            /// What was written by then.
            let written: Int64
        }

        /// What it is compared with; nil of the first trial.
        var former: Former?
        /// Nil until all lanes bring bytes.
        var start: Start?
    }

    private(set) var lanes: Int
    private var state: State

    /// How long a number of lanes is tried.
    static let trial = Duration.seconds(1)
    /// What would take no longer is not worth a change, in seconds.
    static let short = 4.0
    /// Twice the lanes have to be so many times as fast.
    static let gain = 1.2
    static let most = 8

    init(_ count: SegmentCount) {
        switch count {
        case .exactly(let number):
            lanes = max(1, number)
            state = .fixed
        case .automatic:
            lanes = 1
            state = .measuring(Trial())
        }
    }

    mutating func limit(to most: Int) {
        lanes = min(lanes, most)
        state = .fixed
    }

    /// Takes how far all lanes together are. Answers whether another number of lanes is wanted now.
    ///
    /// - Parameter areAllWorking: whether each of the lanes brings bytes. Until then the trial has not begun: connecting
    ///   takes time.
    mutating func note(
        written: Int64, remaining: Int64, smallest: Int64, areAllWorking: Bool, now: MonotonicInstant
    ) -> Bool {
        guard case .measuring(var trial) = state else { return false }
        guard let start = trial.start else {
            if areAllWorking { trial.start = Trial.Start(time: now, written: written) }
            state = .measuring(trial)
            return false
        }
        let elapsed = start.time.duration(to: now)
        guard elapsed >= Self.trial else { return false }
        let rate = Double(written - start.written) / elapsed.inSeconds
        guard rate > 0 else {
            // Nothing at all came: that says nothing.
            trial.start = nil
            state = .measuring(trial)
            return false
        }
        let isLong = Double(remaining) > rate * Self.short && remaining >= 4 * smallest
        if let former = trial.former, rate < former.rate * Self.gain {
            state = .fixed
            guard isLong else { return false }
            lanes = former.lanes
            return true
        }
        guard isLong, lanes < Self.most else {
            state = .fixed
            return false
        }
        state = .measuring(Trial(former: Trial.Former(lanes: lanes, rate: rate)))
        lanes = min(Self.most, lanes * 2)
        return true
    }
}
