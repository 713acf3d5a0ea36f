public import XferModel

/// The windows of the origins that are or were recently in use, and the limits that operators have set for hosts.
///
/// It remembers at most `most` origins that are not in use. Forgetting one is safe: its window begins again.
///
/// A scheduling pass works on a copy while requests begin and end, so a change copies a small part of the table only.
public struct OriginWindows: Sendable {
    /// An operator's own limits for a host.
    public struct HostLimit: Hashable, Sendable {
        /// The highest number of concurrent connections; nil is the service's rule.
        public var connections: Int?
        /// The highest number of requests that begin within a minute, evenly spaced; nil is no limit.
        public var requestsPerMinute: Int?

        public init(connections: Int? = nil, requestsPerMinute: Int? = nil) {
            self.connections = connections
            self.requestsPerMinute = requestsPerMinute
        }

        public static let connectionRange = 1...1000
        public static let requestRange = 1...60_000

        public var isEmpty: Bool { connections == nil && requestsPerMinute == nil }
    }

    static let most = 1024
    /// The time for which retries of an origin that does not answer wait behind the tasks of others.
    static let patience = Duration.seconds(60)

    /// The windows, by a part of their hosts' hashes.
    private var parts = [[String: OriginWindow]](repeating: [:], count: Self.partCount)
    /// A power of two.
    private static let partCount = 64
    private var count = 0
    /// The hosts whose last request got no answer, for at most `patience`: their tasks start after those of others.
    public private(set) var behind: Set<String> = []
    /// The time at which each host in `behind` is removed from it.
    private var behindUntil: [String: MonotonicInstant] = [:]
    /// The earliest time at which a host may be removed from `behind`. All are checked then, at most once a second.
    private var behindCheck: MonotonicInstant?
    /// The connections to all hosts behind an address, by address.
    private var connections: [String: Int] = [:]
    /// The operators' limits, by host.
    public private(set) var limits: [String: HostLimit] = [:]
    /// The time when the next request to a host with a limit per minute may begin.
    private var nextStart: [String: MonotonicInstant] = [:]
    /// False if the operator has allowed more connections than is polite.
    public private(set) var isPolite = true
    /// The hosts of a profile that allows more connections than is polite.
    private var impolite: Set<String> = []
    /// The latest time that was set.
    public private(set) var now = MonotonicInstant(nanoseconds: 0)

    public init() {}

    public mutating func setLimits(_ limits: [String: HostLimit]) {
        // A time that another rate has set is no time of this one.
        nextStart = nextStart.filter { limits[$0.key]?.requestsPerMinute == self.limits[$0.key]?.requestsPerMinute }
        self.limits = limits
        setBounds()
    }

    /// Allows the host more connections than is polite, until it is removed.
    public mutating func allowMore(_ host: String) {
        guard impolite.insert(host).inserted, self[host] != nil else { return }
        let bounds = bounds(of: host)
        parts[Self.part(of: host)][host]?.bounds = bounds
    }

    /// Takes back all that `allowMore` has allowed.
    public mutating func disallowMore() {
        impolite = []
        setBounds()
    }

    public mutating func setPolite(_ isPolite: Bool) {
        self.isPolite = isPolite
        setBounds()
    }

    /// The origins, in the order of their names.
    public var all: [(host: String, window: OriginWindow)] {
        parts.joined().sorted { $0.key < $1.key }.map { (host: $0.key, window: $0.value) }
    }

    public subscript(host: String) -> OriginWindow? { parts[Self.part(of: host)][host] }

    /// The number of requests that may be in progress to this host at the same time. Over HTTP/1.1, hosts behind one
    /// address share the connections that one host may have; each host may have at least one.
    public func size(of host: String) -> Int {
        guard let window = self[host] else { return OriginWindow(bounds: bounds(of: host), at: now).size }
        guard let address = window.address, window.http != .http2, limits[host]?.connections == nil else {
            return window.size
        }
        let others = connections[address, default: 0] - window.connections
        return max(1, min(window.size, window.bounds.connections - others))
    }

    // MARK: Time

    /// Sets the time; a clock that goes back is ignored.
    public mutating func advance(to time: MonotonicInstant) {
        now = max(now, time)
        guard let behindCheck, now >= behindCheck else { return }
        for (host, until) in behindUntil where until <= now { setBehind(host, false) }
        self.behindCheck = behindUntil.values.min().map { max($0, now.advanced(by: .seconds(1))) }
    }

    /// True if the host's limit per minute allows no request now.
    public func isPaced(_ host: String) -> Bool { nextStart[host].map { $0 > now } ?? false }

    /// The hosts whose limits per minute allow no request now.
    public var paced: [String] { nextStart.keys.filter(isPaced) }

    /// The time when the next host's limit per minute allows a request; nil if no host has to wait.
    public var earliestPaced: MonotonicInstant? { nextStart.values.filter { $0 > now }.min() }

    private mutating func setBehind(_ host: String, _ isBehind: Bool) {
        guard isBehind else {
            if behind.remove(host) != nil { behindUntil[host] = nil }
            return
        }
        behind.insert(host)
        let until = now.advanced(by: Self.patience)
        behindUntil[host] = until
        behindCheck = behindCheck ?? until
    }

    // MARK: Requests

    public mutating func begin(_ host: String, at time: MonotonicInstant) -> OriginWindow.Ticket {
        advance(to: time)
        if let count = limits[host]?.requestsPerMinute {
            nextStart[host] = now.advanced(by: .seconds(60) / max(1, count))
        }
        if self[host] == nil {
            makeRoom()
            count += 1
        }
        return change(host) { $0.begin(at: $1) }
    }

    /// Ends a request; see `OriginWindow.end`.
    @discardableResult
    public mutating func end(
        _ host: String, _ ticket: OriginWindow.Ticket, _ outcome: OriginWindow.Outcome, at time: MonotonicInstant
    ) -> Bool {
        advance(to: time)
        guard self[host] != nil else { return false }
        let (isBackOff, isSilent) = change(host) { ($0.end(ticket, outcome, at: $1), $0.isSilent) }
        setBehind(host, isSilent)
        return isBackOff
    }

    /// Changes a window, or a new one, and counts its connections again.
    private mutating func change<Value>(
        _ host: String, _ body: (inout OriginWindow, MonotonicInstant) -> Value
    ) -> Value {
        let part = Self.part(of: host)
        if let window = parts[part][host] { count(window, -1) }
        let new = OriginWindow(bounds: bounds(of: host), at: now)
        defer { if let window = parts[part][host] { count(window, 1) } }
        return body(&parts[part][host, default: new], now)
    }

    private mutating func count(_ window: OriginWindow, _ sign: Int) {
        guard let address = window.address, window.connections > 0 else { return }
        let sum = connections[address, default: 0] + sign * window.connections
        connections[address] = sum > 0 ? sum : nil
    }

    private static func part(of host: String) -> Int { host.hashValue & (partCount - 1) }

    private func bounds(of host: String) -> OriginWindow.Bounds {
        if let own = limits[host]?.connections { return OriginWindow.Bounds(connections: own) }
        return isPolite && !impolite.contains(host) ? .polite : .impolite
    }

    private mutating func setBounds() {
        for part in parts.indices {
            for host in parts[part].keys {
                let bounds = bounds(of: host)
                parts[part][host]?.bounds = bounds
            }
        }
    }

    /// Removes the quarter that was unused for longest.
    private mutating func makeRoom() {
        guard count >= Self.most else { return }
        let idle = parts.joined().filter { $0.value.underWay == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (host, _) in idle.prefix(Self.most / 4) {
            parts[Self.part(of: host)][host] = nil
            count -= 1
            impolite.remove(host)
            setBehind(host, false)
        }
    }
}
