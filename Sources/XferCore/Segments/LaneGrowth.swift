import XferModel

/// Decides how many lanes a download has: the requested number, or, with `auto`, as many as make it measurably faster.
///
/// `auto` begins with one. While much is left, it doubles the lanes, measures the gain, and undoes the last doubling if
/// the gain was too small. So if one connection fills the server's or the client's line, there is one lane, and a short
/// download is never split.
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
            /// Bytes that were written at that time.
            let written: Int64
        }

        /// The trial it is compared with; nil for the first one.
        var former: Former?
        /// Nil until all lanes receive bytes.
        var start: Start?
    }

    private(set) var lanes: Int
    private var state: State

    /// How long a number of lanes is tried.
    static let trial = Duration.seconds(1)
    /// A download that would take no longer is not worth a change, in seconds.
    static let short = 4.0
    /// Required speed-up for twice the lanes.
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

    /// Records the progress of all lanes together. Returns whether another number of lanes is wanted now.
    ///
    /// - Parameter areAllWorking: whether each lane receives bytes. Until then the trial has not begun: connecting
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
            // Nothing was received: that measures nothing.
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
