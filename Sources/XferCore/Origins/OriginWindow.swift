public import XferModel

/// Decides how many requests to one origin may be in progress at the same time.
///
/// The window begins small, grows while more requests at once make the origin's files arrive faster, and shrinks when
/// the origin refuses some. Politeness counts connections: over HTTP/1.1 a request is a connection; over HTTP/2 all
/// requests share one.
///
/// Invariants for all reports and any clock:
///
/// * `size` is 1 … `most`, so that no origin starves and none is overrun.
/// * `size` grows only at the end of an epoch, by at most 16 or half of itself, and not above a ceiling that is
///   remembered. So one step too far costs few refusals.
/// * It halves at most once an epoch: refusals of requests that began before it shrank are no new evidence.
/// * It keeps a fixed amount of memory, and discarding it is always safe.
///
/// An *epoch* is one round trip: it ends with the first answer to a request that was begun within it.
public struct OriginWindow: Hashable, Sendable {
    /// The protocol of the origin's last answer.
    public enum HTTP: String, Hashable, Sendable {
        /// No answer yet: it may turn out to be HTTP/1.1, where each request is a connection.
        case unknown
        case http1
        case http2
    }

    /// The window's bounds from outside.
    public struct Bounds: Hashable, Sendable {
        /// The highest numbers for an origin, as in browsers.
        public static let polite = Bounds(connections: 6)
        /// The highest number of connections if the operator has allowed more than is polite.
        public static let impolite = Bounds(connections: 16)

        /// The highest number of connections over HTTP/1.1.
        public var connections: Int
        /// The highest number of concurrent requests over HTTP/2. Servers announce 100 or more (RFC 9113 §6.5.2
        /// recommends no less).
        public var requests = 100

        public init(connections: Int) { self.connections = max(1, connections) }
    }

    /// A request that is under way.
    public struct Ticket: Hashable, Sendable {
        /// The request's number among the origin's requests.
        let number: UInt64
        /// The number of requests that were under way when it began, itself included.
        public let underWay: Int
        let beganAt: MonotonicInstant
    }

    /// The end of a request.
    public enum Outcome: Hashable, Sendable {
        case answered(Answer)
        /// The origin refused because of too many concurrent requests; see `OriginRefusal`. `requestsWait`: the answer
        /// states a time (`Retry-After`).
        case refused(requestsWait: Bool)
        /// The connection was refused, or ended before an answer.
        case broken
        /// No byte was received.
        case silent
        /// The request was stopped, or failed for reasons that say nothing about the origin.
        case other
    }

    /// The known facts of an answer.
    public struct Answer: Hashable, Sendable {
        public var http: HTTP
        /// The local port, which distinguishes connections; nil if it is unknown.
        public var connection: UInt16?
        /// True if the connection had been made for an earlier request.
        public var isReused: Bool
        /// The time from the request to the first byte of its answer; nil if it is unknown.
        public var latency: Duration?
        public var bytes: Int64
        /// The address of the origin itself; nil if it is unknown, or another server's.
        public var address: String?

        public init(
            http: HTTP, connection: UInt16? = nil, isReused: Bool = false, latency: Duration? = nil, bytes: Int64 = 0,
            address: String? = nil
        ) {
            self.address = address
            self.http = http
            self.connection = connection
            self.isReused = isReused
            self.latency = latency
            self.bytes = bytes
        }
    }

    /// The reason why the window does not grow.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The window grows.
        case growing
        /// Fewer requests are under way than may be.
        case unneeded
        /// The window has as many connections, or requests, as are allowed.
        case most
        /// The origin has refused more.
        case refused
        /// A larger window made nothing faster.
        case noGain = "no_gain"
        /// The origin does not answer.
        case silent
    }

    /// The first window: the polite number of connections. If they turn out to be streams of HTTP/2, they share one.
    public static let first = 6
    /// The first window after an answer over HTTP/2, where all requests share one connection.
    static let firstOfHTTP2 = 8
    /// The step from which on the window grows by half of itself.
    static let largestStep = 16
    /// The part of its growth that has to show in the rate: twice as many requests have to be a fifth faster.
    static let gain = 0.2
    /// A rate below this share of the best one, in `slowEpochs` successive epochs, undoes the growth. A lost packet
    /// affects fewer epochs.
    static let loss = 0.7
    static let slowEpochs = 4
    /// The share of the best rate that remains from one epoch to the next, so that one short peak does not count for
    /// long.
    static let decay = 0.95
    /// The time for which a refusal is remembered.
    public static let memory = Duration.seconds(600)
    /// The time without growth after growth has made the origin slower.
    static let pause = Duration.seconds(30)
    /// The time after an answer during which the origin counts as reachable, so that a lost connection is taken for a
    /// refusal.
    static let presence = Duration.seconds(30)

    public var bounds: Bounds
    public private(set) var http = HTTP.unknown
    /// The number of requests under way.
    public private(set) var underWay = 0
    public private(set) var refusals = 0
    public private(set) var reason = Reason.growing
    /// The smoothed time to the first byte of an answer; nil before the first one.
    public private(set) var latency: Duration?
    /// The address of the last answer that had one.
    public private(set) var address: String?
    /// Bytes per second in the last epoch; nil before it.
    public private(set) var rate: Double?
    /// The time when the last request began or ended.
    public private(set) var lastUse: MonotonicInstant
    private var granted = Self.first
    private var lastNumber: UInt64 = 0
    private var epoch: Epoch
    /// The best rate so far, and the window that had it.
    private var best: Measured?
    private var former: Measured?
    private var slowEpochs = 0
    private var growsFrom: MonotonicInstant?
    private var ceiling: Ceiling?
    /// The last request that was begun before the window shrank.
    private var lastBeforeShrinking: UInt64 = 0
    /// The highest `underWay` of a request that was answered and begun since the window shrank.
    private var proven = 0
    private var silentEnds = 0
    private var lastAnswer: MonotonicInstant?
    private var connectionsBefore: Set<UInt16> = []

    private struct Epoch: Hashable {
        /// The lowest number of a request whose answer ends the epoch.
        var firstNumber: UInt64
        var beganAt: MonotonicInstant
        var answers = 0
        var bytes: Int64 = 0
        /// The highest number of requests that were in progress when an answered one began. It explains the rate; the
        /// present window does not.
        var largest = 1
        /// True if the window was the obstacle.
        var wasFull = false
        var connections: Set<UInt16> = []
    }

    private struct Measured: Hashable {
        /// The number of requests that were under way.
        let size: Int
        /// The number of answers per second.
        var answers: Double
        var bytes: Double

        /// The quotient of both rates: of the bytes or of the answers, whichever is larger.
        func gain(over other: Measured) -> Double {
            max(answers / max(other.answers, 1e-9), other.bytes > 0 ? bytes / other.bytes : 0)
        }
    }

    private struct Ceiling: Hashable {
        var size: Int
        var until: MonotonicInstant
    }

    public init(bounds: Bounds = .polite, at now: MonotonicInstant) {
        self.bounds = bounds
        lastUse = now
        epoch = Epoch(firstNumber: 1, beganAt: now)
    }

    /// The highest number of requests at once, independently of measurements.
    public var most: Int {
        switch http {
        case .unknown: max(1, min(Self.first, bounds.connections))
        case .http1: max(1, bounds.connections)
        case .http2: max(1, bounds.requests)
        }
    }

    /// The number of requests that may be under way at once.
    public var size: Int { max(1, min(granted, most)) }

    public var isFull: Bool { underWay >= size }

    /// True if the last requests got no answer.
    public var isSilent: Bool { silentEnds > 0 }

    /// The number of connections in use, as far as is known.
    public var connections: Int {
        guard underWay > 0 else { return 0 }
        return http == .http2 ? max(1, epoch.connections.count) : underWay
    }

    // MARK: Requests

    /// Records that a request begins.
    public mutating func begin(at now: MonotonicInstant) -> Ticket {
        if underWay == 0 {
            // Rates from before the pause say nothing.
            (best, former) = (nil, nil)
            beginEpoch(at: now)
        }
        lastNumber &+= 1
        underWay = underWay.addingSaturated(1)
        lastUse = now
        if isFull { epoch.wasFull = true }
        return Ticket(number: lastNumber, underWay: underWay, beganAt: now)
    }

    /// Ends a request. Returns true if the origin has refused it because of other requests in progress: the window has
    /// shrunk for that, and the same request may be answered once they have ended.
    @discardableResult
    public mutating func end(_ ticket: Ticket, _ outcome: Outcome, at now: MonotonicInstant) -> Bool {
        underWay = max(0, underWay - 1)
        lastUse = now
        switch outcome {
        case .answered(let answer):
            onAnswer(answer, to: ticket, at: now)
        case .refused(requestsWait: true):
            refusals = refusals.addingSaturated(1)
            onPresence(at: now)
            if ticket.underWay > 1 { setCeiling(min(ticket.underWay - 1, ceiling?.size ?? .max), at: now) }
            shrink(to: 1, .refused, at: now)
        case .refused(requestsWait: false):
            refusals = refusals.addingSaturated(1)
            onPresence(at: now)
            return backOff(ticket, at: now)
        case .broken:
            guard let lastAnswer, lastAnswer.duration(to: now) <= Self.presence else {
                onSilence(of: ticket, at: now)
                return false
            }
            _ = backOff(ticket, at: now)
        case .silent:
            onSilence(of: ticket, at: now)
        case .other:
            break
        }
        return false
    }

    private mutating func onPresence(at now: MonotonicInstant) {
        silentEnds = 0
        lastAnswer = now
    }

    private mutating func onAnswer(_ answer: Answer, to ticket: Ticket, at now: MonotonicInstant) {
        if silentEnds > 0, reason == .silent { reason = .growing }
        onPresence(at: now)
        if answer.http != .unknown, answer.http != http {
            http = answer.http
            if http == .http2, ceiling == nil { granted = max(granted, Self.firstOfHTTP2) }
            granted = size
            // That was a step already.
            beginEpoch(at: now)
        }
        address = answer.address ?? address
        if let sample = answer.latency, sample > .zero, sample < .seconds(3600) {
            latency = latency.map { $0 * 7 / 8 + sample / 8 } ?? sample
        }
        if ticket.number > lastBeforeShrinking { proven = max(proven, ticket.underWay) }
        epoch.largest = max(epoch.largest, ticket.underWay)
        epoch.answers = epoch.answers.addingSaturated(1)
        epoch.bytes = epoch.bytes.addingSaturated(max(0, answer.bytes))
        if let port = answer.connection, answer.isReused, epoch.connections.count < 64 {
            epoch.connections.insert(port)
        }
        if ticket.number >= epoch.firstNumber { endEpoch(at: now) }
    }

    // MARK: Growing

    private mutating func endEpoch(at now: MonotonicInstant) {
        let last = epoch
        let elapsed = last.beganAt.duration(to: now).inSeconds
        beginEpoch(at: now)
        if let known = ceiling, now >= known.until { ceiling = nil }
        // The first connection was full of streams, if two are used side by side for longer than one drains.
        if http == .http2, last.connections.intersection(connectionsBefore).count > 1 {
            connectionsBefore = []
            let share = max(1, size / last.connections.count)
            setCeiling(share, at: now)
            return shrink(to: share, .most, at: now)
        }
        connectionsBefore = last.connections
        // A clock that stands still, or goes back, measures nothing.
        guard elapsed > 0 else { return }
        let measured = Measured(
            size: last.largest, answers: Double(last.answers) / elapsed, bytes: Double(last.bytes) / elapsed)
        rate = measured.bytes
        guard last.wasFull else { return reason = .unneeded }
        grow(measured, at: now)
    }

    private mutating func grow(_ measured: Measured, at now: MonotonicInstant) {
        defer { former = measured }
        best?.answers *= Self.decay
        best?.bytes *= Self.decay
        if let best, measured.gain(over: best) < Self.loss, best.size < size, size > Bounds.polite.connections {
            slowEpochs += 1
            guard slowEpochs >= Self.slowEpochs else { return }
            // More at once was slower.
            growsFrom = now.advanced(by: Self.pause)
            return shrink(to: best.size, .noGain, at: now)
        }
        slowEpochs = 0
        if best.map({ measured.gain(over: $0) > 1 }) ?? true { best = measured }
        if let known = growsFrom {
            guard now >= known else { return reason = .noGain }
            growsFrom = nil
        }
        let end = min(most, ceiling?.size ?? most)
        guard size < end else { return reason = size < most ? .refused : .most }
        // The epoch of the first answer is too short to be compared.
        let gained = former.map { measured.gain(over: $0) } ?? .infinity
        let grown = former.map { Double(measured.size) / Double(max(1, $0.size)) } ?? 1
        if http == .http1, size >= Bounds.polite.connections, gained < 1 || refusals > 0 {
            return reason = refusals > 0 ? .refused : .noGain
        }
        let step = gained >= 1 + (grown - 1) * Self.gain ? min(size, max(Self.largestStep, size / 2)) : 1
        granted = min(end, size.addingSaturated(step))
        reason = .growing
    }

    private mutating func beginEpoch(at now: MonotonicInstant) {
        epoch = Epoch(firstNumber: lastNumber &+ 1, beganAt: now)
        if isFull { epoch.wasFull = true }
    }

    // MARK: Shrinking

    /// Halves the window, once an epoch, but not below the number that was answered since then. Returns true if other
    /// requests in progress explain the refusal.
    private mutating func backOff(_ ticket: Ticket, at now: MonotonicInstant) -> Bool {
        guard ticket.underWay > 1 else { return false }
        let half = max(1, min(size / 2, ticket.underWay - 1))
        guard ticket.number > lastBeforeShrinking else {
            // The same mistake; but it says more exactly how many were too many.
            setCeiling(max(size, min(ticket.underWay - 1, ceiling?.size ?? .max)), at: now)
            return true
        }
        // If as many were answered lately, the origin has changed its mind, and that says nothing any more.
        let target = proven < ticket.underWay ? max(half, proven) : half
        setCeiling(max(target, ticket.underWay - 1), at: now)
        shrink(to: target, .refused, at: now)
        return true
    }

    private mutating func onSilence(of ticket: Ticket, at now: MonotonicInstant) {
        // Others were answered meanwhile.
        if let lastAnswer, ticket.beganAt < lastAnswer { return }
        silentEnds = silentEnds.addingSaturated(1)
        guard silentEnds > 1 || lastAnswer == nil else { return }
        shrink(to: 1, .silent, at: now)
    }

    private mutating func setCeiling(_ size: Int, at now: MonotonicInstant) {
        ceiling = Ceiling(size: max(1, size), until: now.advanced(by: Self.memory))
    }

    private mutating func shrink(to size: Int, _ why: Reason, at now: MonotonicInstant) {
        granted = max(1, min(size, self.size))
        reason = why
        lastBeforeShrinking = lastNumber
        proven = 0
        slowEpochs = 0
        (best, former) = (nil, nil)
        beginEpoch(at: now)
    }
}
