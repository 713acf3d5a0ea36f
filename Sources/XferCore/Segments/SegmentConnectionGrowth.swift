import XferModel

/// Decides how many connections a download has: the requested number, or, with `auto`, as many as make it measurably
/// faster.
///
/// `auto` begins with one. While much is left, it doubles the connections, and returns to the previous number if the
/// gain was too small. Surplus connections end with their pieces: closing one at once, and fetching the rest of its
/// piece over a new connection, which begins slowly, would cost more than it saves. They are closed at once only if
/// they have slowed the download much. A short download is never split.
///
/// A new connection is slow at first: it needs some ten round trips until it shows what it brings. So a trial is judged
/// by the new connections' own rate. While that rises, the trial goes on, unless the former connections lose what the
/// new ones gain: then the line is full. It ends when the rate of the new ones has stopped rising, and at the latest
/// after the round trips that a slow start needs.
///
/// That patience costs little, because a new connection has only a small piece of the rear (`trialPiece`), as long as
/// it is slow: on a full line it would not finish a large one before the others finish theirs.
struct SegmentConnectionGrowth: Hashable, Sendable {
    private enum State: Hashable {
        case fixed
        case measuring(Trial)
    }

    /// A number of connections under test.
    private struct Trial: Hashable {
        /// The trial it is compared with.
        struct Former: Hashable {
            let connections: Int
            /// Bytes per second of all connections.
            let rate: Double
            /// The difference between the rates of both halves of an interval, as a share of `rate`.
            let noise: Double
        }

        /// The bytes that were received up to a time: by the former connections, and by those under test.
        struct Moment: Hashable {
            let time: MonotonicInstant
            let old: Int64
            let new: Int64
            /// The number of pieces that the former connections have begun. A connection that has just begun one
            /// brings nothing for a round trip or two.
            let oldPieces: Int

            func rates(since earlier: Moment) -> Rates {
                let seconds = max(1e-9, earlier.time.duration(to: time).inSeconds)
                return Rates(
                    old: Double(max(0, old.subtractingSaturated(earlier.old))) / seconds,
                    new: Double(max(0, new.subtractingSaturated(earlier.new))) / seconds)
            }
        }

        /// Bytes per second.
        struct Rates: Hashable {
            var old = 0.0
            var new = 0.0
            var all: Double { old + new }
        }

        /// The time before which nothing is measured; nil for none.
        var pausedUntil: MonotonicInstant?
        /// The trial before; nil for one connection, and after a failed trial.
        var former: Former?
        /// The bytes that each connection had received before the trial.
        var earlier: [Int64] = []
        /// The beginning of the trial: each connection has received bytes. Nil before that; connecting takes time.
        var begun: Moment?
        /// The beginning and the middle of the interval that is measured now. When its second half is over, it becomes
        /// the first half of the next one.
        var start: Moment?
        var middle: Moment?
        /// The number of intervals that were measured.
        var intervals = 0
        /// Bytes per second of the connections under test, when measured last.
        var newRate = 0.0
    }

    private(set) var connections: Int
    /// True if connections beyond that number are to be closed before their pieces end.
    private(set) var closesSurplus = true
    /// The shortest known round trip to the server, in seconds.
    private(set) var roundTrip: Double?
    private var state: State
    private var failures = 0

    /// The least half of an interval that is measured.
    static let half = 0.5
    /// The same in round trips.
    static let halfRoundTrips = 2.0
    /// A long download is measured more exactly: half an interval is this share of what remains, up to `longestHalf`.
    static let halfShare = 1.0 / 60
    static let longestHalf = 5.0
    /// A second half that is faster than the first one by this factor shows that the rate is rising.
    static let rise = 1.1
    /// A second half below this share of the first one shows that the rate is falling.
    static let fall = 0.8
    /// The number of intervals after which a rate counts although it is not steady: the rate of a line may never be.
    static let mostIntervals = 7
    /// The time that a connection under test should need for its piece, in seconds.
    static let trialSeconds = 1.0
    /// The remaining time, in seconds, up to which a first trial is not worth its cost; a further one after a gain; and
    /// one after a failure.
    static let short = 6.0
    static let shortAfterGain = 3.0
    static let shortAfterFailure = 40.0
    /// The required speed-up for twice the connections.
    static let gain = 1.2
    /// Below this share of the previous rate, the new connections have slowed the download.
    static let loss = 0.7
    /// The line is full if the former connections lose this share of what the new ones gain.
    static let displacement = 0.5
    /// The rate of the new connections, as a share of the former one, above which a displacement is more than noise.
    static let noticeable = 0.06
    /// The number of failed trials after which there are no others. A line that loses packets has good and bad seconds,
    /// so a long download tries again.
    static let mostFailures = 3
    /// The least pause after a failed trial, in seconds, and as a multiple of that trial.
    static let pause = 10.0
    static let pauseShare = 5.0
    /// A longer round trip, in seconds, is not believed: a request over a kept connection includes the server's work.
    static let longestRoundTrip = 1.0
    /// The bytes that TCP sends at first (RFC 6928).
    static let firstWindow = 14_600.0
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

    /// True if the number of connections may still change by `measure`.
    var isMeasuring: Bool { state != .fixed }

    /// The length of the piece that a connection under test gets, in bytes; nil if it is not under test.
    func trialPiece(for connection: Int, smallest: Int64) -> Int64? {
        guard case .measuring(let trial) = state, let former = trial.former, connection >= former.connections else {
            return nil
        }
        let own = trial.newRate / Double(max(1, connections - former.connections))
        let rate = min(own, former.rate / Double(max(1, former.connections)))
        return max(smallest / 4, Int64(saturating: rate * Self.trialSeconds))
    }

    mutating func limit(to most: Int) {
        connections = min(connections, most)
        closesSurplus = true
        state = .fixed
    }

    /// Records the duration of a round trip to the server, or a longer one.
    mutating func onRoundTrip(_ duration: Duration) {
        guard duration > .zero else { return }
        roundTrip = min(roundTrip ?? Self.longestRoundTrip, duration.inSeconds)
    }

    /// Records the progress. Returns true if another number of connections is wanted now.
    ///
    /// - Parameter received: what each connection has received. Those with the lowest numbers are the former ones.
    mutating func measure(
        _ received: [SegmentConnectionTotal], remaining: Int64, smallest: Int64, now: MonotonicInstant
    ) -> Bool {
        guard case .measuring(var trial) = state else { return false }
        let count = trial.former?.connections ?? connections
        let moment = Trial.Moment(
            time: now, old: received.prefix(count).map(\.bytes).saturatedSum,
            new: received.dropFirst(count).map(\.bytes).saturatedSum,
            oldPieces: received.prefix(count).map(\.pieces).saturatedSum)
        guard let start = trial.start else {
            let isPaused = trial.pausedUntil.map { now < $0 } ?? false
            let areAllWorking = (0..<connections).allSatisfy { number in
                let earlier = number < trial.earlier.count ? trial.earlier[number] : 0
                return number < received.count && received[number].bytes > earlier
            }
            if !isPaused, areAllWorking {
                trial.start = moment
                trial.begun = trial.begun ?? moment
                state = .measuring(trial)
            }
            return false
        }
        let half = half(trial, moment, remaining)
        guard let middle = trial.middle else {
            if start.time.duration(to: now).inSeconds >= half {
                trial.middle = moment
                trial.newRate = moment.rates(since: start).new
                state = .measuring(trial)
            }
            return false
        }
        guard middle.time.duration(to: now).inSeconds >= half else { return false }
        let (first, second, whole) = (
            middle.rates(since: start), moment.rates(since: middle), moment.rates(since: start)
        )
        guard whole.all > 0 else {
            // Nothing was received: that measures nothing.
            (trial.start, trial.middle) = (nil, nil)
            state = .measuring(trial)
            return false
        }
        (trial.start, trial.middle, trial.newRate) = (middle, moment, second.new)
        trial.intervals += 1
        state = .measuring(trial)
        guard let former = trial.former else {
            let isSteady = second.all <= first.all * Self.rise && second.all >= first.all * Self.fall
            guard isSteady || trial.intervals >= Self.mostIntervals else { return false }
            return grow(
                received, first.all, second.all, remaining, smallest,
                short: failures == 0 ? Self.short : Self.shortAfterFailure)
        }
        let elapsed = (trial.begun ?? moment).time.duration(to: now).inSeconds
        // Nothing is known of a former connection while it begins a piece.
        let isDisturbed = moment.oldPieces > start.oldPieces
        let mayRise = (isDisturbed || second.new > first.new * Self.rise) && elapsed < longest(former, half)
        let isFaster = whole.all >= former.rate * Self.gain
        if isFaster {
            let own = second.new / Double(max(1, connections - former.connections))
            let isAsFast = own >= 0.8 * former.rate / Double(max(1, former.connections))
            guard !mayRise || isAsFast else { return false }
            return grow(received, first.all, second.all, remaining, smallest, short: Self.shortAfterGain)
        }
        let isFull =
            !isDisturbed && second.new >= former.rate * max(Self.noticeable, 2 * former.noise)
            && former.rate - second.old >= second.new * Self.displacement
        if mayRise, !isFull, isDisturbed || whole.all >= former.rate * Self.loss { return false }
        connections = former.connections
        closesSurplus = whole.all < former.rate * Self.loss && isLong(whole.all, remaining, smallest, Self.short)
        failures += 1
        guard failures < Self.mostFailures else {
            state = .fixed
            return true
        }
        let pause = max(Self.pause, elapsed * Self.pauseShare)
        state = .measuring(Trial(pausedUntil: now.advanced(by: .nanoseconds(Int64(saturating: pause * 1e9)))))
        return true
    }

    /// Begins a trial of twice the connections if that is worth it. Returns true if so.
    ///
    /// - Parameters:
    ///   - first: bytes per second of the present connections in the first half of the interval; `second`: in the other.
    ///   - short: the remaining time, in seconds, up to which it is not worth it.
    private mutating func grow(
        _ received: [SegmentConnectionTotal], _ first: Double, _ second: Double, _ remaining: Int64, _ smallest: Int64,
        short: Double
    ) -> Bool {
        let rate = max(second, (first + second) / 2)
        let former = Trial.Former(connections: connections, rate: rate, noise: abs(second - first) / max(1, rate))
        // A first trial may bring nothing. After a gain the next one is worth it as soon as its slow start fits.
        let hasGained = failures == 0 && former.connections > 1
        let least = max(short, (hasGained ? 1 : 1.5) * slowStart(former))
        guard connections < Self.most else {
            state = .fixed
            return false
        }
        guard isLong(rate, remaining, smallest, least) else {
            // It may become slower.
            if case .measuring(let trial) = state, trial.former != nil { state = .measuring(Trial()) }
            return false
        }
        state = .measuring(Trial(former: former, earlier: received.map(\.bytes)))
        connections = min(Self.most, connections * 2)
        return true
    }

    private func isLong(_ rate: Double, _ remaining: Int64, _ smallest: Int64, _ seconds: Double) -> Bool {
        Double(remaining) > rate * seconds && remaining / 4 >= smallest
    }

    /// Seconds of half an interval.
    private func half(_ trial: Trial, _ moment: Trial.Moment, _ remaining: Int64) -> Double {
        let rate = trial.former?.rate ?? moment.rates(since: trial.begun ?? moment).all
        let left = Double(remaining) / max(1, rate)
        return max(Self.half, Self.halfRoundTrips * (roundTrip ?? 0), min(Self.longestHalf, left * Self.halfShare))
    }

    /// Seconds that a new connection needs until it is as fast as a former one. Each new piece costs it a round trip.
    private func slowStart(_ former: Trial.Former) -> Double {
        guard let roundTrip else { return 0 }
        let window = former.rate / Double(max(1, former.connections)) * roundTrip
        var (rounds, reached) = (1.0, Self.firstWindow)
        while reached < window, rounds < 20 { (rounds, reached) = (rounds + 1, reached * 2) }
        return rounds * roundTrip * 1.5
    }

    /// The longest time of a trial, in seconds.
    private func longest(_ former: Trial.Former, _ half: Double) -> Double { slowStart(former) + 5 * half }
}

/// What a connection has received in all its pieces.
struct SegmentConnectionTotal: Hashable, Sendable {
    var bytes: Int64 = 0
    /// The number of pieces that it has begun.
    var pieces = 0
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
