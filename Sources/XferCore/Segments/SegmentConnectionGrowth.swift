import XferModel

/// Decides how many connections a download has: the requested number, or, with `auto`, as many as make it measurably
/// faster.
///
/// `auto` begins with one. While much is left, it doubles the connections, measures the gain, and returns to the
/// previous number if the gain was too small. Surplus connections end with their pieces: closing one at once, and
/// fetching the rest of its piece over a new connection, which begins slowly, would cost more than it saves. They are
/// closed at once only if they have slowed the download much. A short download is never split.
///
/// A failed trial costs little. Connections under test get small pieces of the rear (`trialSeconds`), so that the first
/// connection, which has found the line's speed, keeps the rest. A number is measured when its rate has stopped rising:
/// a new connection is slow at first, and so is the first one.
struct SegmentConnectionGrowth: Hashable, Sendable {
    private enum State: Hashable {
        case fixed
        case measuring(Trial)
    }

    /// A number of connections under test.
    private struct Trial: Hashable {
        struct Former: Hashable {
            let connections: Int
            /// Bytes per second.
            let rate: Double
        }

        struct Start: Hashable {
            let time: MonotonicInstant
            /// The bytes that were written at that time.
            let written: Int64

            /// Bytes per second since an earlier moment.
            func rate(since earlier: Start) -> Double {
                Double(max(0, written.subtractingSaturated(earlier.written)))
                    / max(1e-9, earlier.time.duration(to: time).inSeconds)
            }
        }

        /// The trial it is compared with; nil for the first one.
        var former: Former?
        /// The beginning of the measurement; nil until all connections receive bytes.
        var start: Start?
        /// The state at the middle of the measurement; nil before that.
        var middle: Start?
        /// The number of times the measurement was prolonged by half, because the rate was rising.
        var extensions = 0
    }

    private(set) var connections: Int
    /// True if connections beyond that number are to be closed before their pieces end.
    private(set) var closesSurplus = true
    private var state: State

    /// The duration of the trial of a number of connections.
    static let trial = Duration.seconds(1)
    /// A second half that is faster than the first one by this factor shows that the rate is rising.
    static let rise = 1.1
    /// The highest number of times that a trial is extended by half of its time: the rate of a line may never be
    /// steady.
    static let mostExtensions = 6
    /// The time that a connection under test should need for its piece.
    static let trialSeconds = 1.0
    /// The remaining time, in seconds, up to which a change is not worth its cost.
    static let short = 8.0
    /// The required speed-up for twice the connections.
    static let gain = 1.2
    /// Below this share of the previous rate, the new connections have slowed the download.
    static let loss = 0.7
    static let most = 8

    init(_ count: SegmentCount) {
        switch count {
        case .exactly(let number):
            connections = max(1, number)
            state = .fixed
        case .automatic:
            connections = 1
            state = .measuring(Trial())
        }
    }

    /// The length of pieces that connections under test get, in bytes; nil if none are under test.
    var trialPiece: Int64? {
        guard case .measuring(let trial) = state, let former = trial.former else { return nil }
        return Int64(saturating: former.rate / Double(max(1, former.connections)) * Self.trialSeconds)
    }

    mutating func limit(to most: Int) {
        connections = min(connections, most)
        closesSurplus = true
        state = .fixed
    }

    /// Records the progress of all connections together. Returns true if another number of connections is wanted now.
    ///
    /// - Parameter areAllWorking: true if each connection receives bytes. Until then the trial has not begun:
    ///   connecting takes time.
    mutating func measure(
        written: Int64, remaining: Int64, smallest: Int64, areAllWorking: Bool, now: MonotonicInstant
    ) -> Bool {
        guard case .measuring(var trial) = state else { return false }
        guard let start = trial.start else {
            if areAllWorking { trial.start = Trial.Start(time: now, written: written) }
            state = .measuring(trial)
            return false
        }
        let moment = Trial.Start(time: now, written: written)
        guard let middle = trial.middle else {
            if start.time.duration(to: now) >= Self.trial / 2 { trial.middle = moment }
            state = .measuring(trial)
            return false
        }
        guard middle.time.duration(to: now) >= Self.trial / 2 else { return false }
        let rate = moment.rate(since: start)
        guard rate > 0 else {
            // Nothing was received: that measures nothing.
            (trial.start, trial.middle) = (nil, nil)
            state = .measuring(trial)
            return false
        }
        let isRising = moment.rate(since: middle) > middle.rate(since: start) * Self.rise
        if isRising, trial.extensions < Self.mostExtensions {
            (trial.start, trial.middle) = (middle, moment)
            trial.extensions += 1
            state = .measuring(trial)
            return false
        }
        let isLong = Double(remaining) > rate * Self.short && remaining >= 4 * smallest
        if let former = trial.former, rate < former.rate * Self.gain {
            state = .fixed
            connections = former.connections
            closesSurplus = isLong && rate < former.rate * Self.loss
            return true
        }
        guard isLong, connections < Self.most else {
            state = .fixed
            return false
        }
        state = .measuring(Trial(former: Trial.Former(connections: connections, rate: rate)))
        connections = min(Self.most, connections * 2)
        return true
    }
}

/// The speed of a connection, from samples of its offset.
struct SegmentConnectionRate: Hashable, Sendable {
    /// The measured rate; nil until there are two samples.
    private(set) var bytesPerSecond: Double?
    /// The number of measurements of the rate.
    private(set) var measurements = 0
    private var last: Moment?

    private struct Moment: Hashable {
        let offset: Int64
        let time: MonotonicInstant
    }

    /// The shortest interval between two samples: a shorter one is too inexact.
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
        measurements += 1
        self.last = Moment(offset: offset, time: now)
    }
}
