public import XferModel

/// The windows of the origins that are in use, or were lately, and the limits that operators have set for hosts.
///
/// It remembers at most `most` origins that are not in use. Forgetting one is safe: its window begins again.
public struct OriginWindows: Sendable {
    /// An operator's own limits for a host.
    public struct HostLimit: Hashable, Sendable {
        /// The most connections at once; nil is the service's rule.
        public var connections: Int?
        /// The most requests that begin within a minute, evenly spaced; nil is no limit.
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

    private var windows: [String: OriginWindow] = [:]
    /// The hosts whose last request got no answer.
    private var silent: Set<String> = []
    /// The operators' limits, by host.
    public private(set) var limits: [String: HostLimit] = [:]
    /// The time when the next request to a host with a limit per minute may begin.
    private var nextStart: [String: MonotonicInstant] = [:]
    /// False if the operator has allowed more connections than is polite.
    public private(set) var isPolite = true
    /// The latest time that was set.
    public private(set) var now = MonotonicInstant(nanoseconds: 0)

    public init() {}

    public mutating func setLimits(_ limits: [String: HostLimit]) {
        // A time that another rate has set is no time of this one.
        nextStart = nextStart.filter { limits[$0.key]?.requestsPerMinute == self.limits[$0.key]?.requestsPerMinute }
        self.limits = limits
        setBounds()
    }

    public mutating func setPolite(_ isPolite: Bool) {
        self.isPolite = isPolite
        setBounds()
    }

    /// The origins, in the order of their names.
    public var all: [(host: String, window: OriginWindow)] {
        windows.sorted { $0.key < $1.key }.map { (host: $0.key, window: $0.value) }
    }

    public subscript(host: String) -> OriginWindow? { windows[host] }

    /// The requests that may be under way to this host at once.
    public func size(of host: String) -> Int {
        windows[host]?.size ?? OriginWindow(bounds: bounds(of: host), at: now).size
    }

    // MARK: Time

    /// Sets the time; a time before the present one is ignored.
    public mutating func advance(to time: MonotonicInstant) { now = max(now, time) }

    /// True if the host's limit per minute allows no request now.
    public func isPaced(_ host: String) -> Bool { nextStart[host].map { $0 > now } ?? false }

    /// The hosts whose limits per minute allow no request now.
    public var paced: [String] { nextStart.keys.filter(isPaced) }

    /// The time when the next host's limit per minute allows a request; nil if no host has to wait.
    public var earliestPaced: MonotonicInstant? { nextStart.values.filter { $0 > now }.min() }

    /// True for an origin that did not answer: its retries wait behind the tasks of others, for at most a minute.
    public func isBehind(_ host: String) -> Bool {
        guard let window = windows[host], window.isSilent else { return false }
        return window.lastUse.duration(to: now) < Self.patience
    }

    /// The hosts that did not answer.
    public var behind: [String] { silent.filter(isBehind) }

    // MARK: Requests

    public mutating func begin(_ host: String, at time: MonotonicInstant) -> OriginWindow.Ticket {
        advance(to: time)
        if let count = limits[host]?.requestsPerMinute {
            nextStart[host] = now.advanced(by: .seconds(60) / max(1, count))
        }
        if windows[host] == nil { makeRoom() }
        let new = OriginWindow(bounds: bounds(of: host), at: now)
        return windows[host, default: new].begin(at: now)
    }

    /// Ends a request; see `OriginWindow.end`.
    @discardableResult
    public mutating func end(
        _ host: String, _ ticket: OriginWindow.Ticket, _ outcome: OriginWindow.Outcome, at time: MonotonicInstant
    ) -> Bool {
        advance(to: time)
        let isBackOff = windows[host]?.end(ticket, outcome, at: now) ?? false
        if windows[host]?.isSilent == true { silent.insert(host) } else { silent.remove(host) }
        return isBackOff
    }

    private func bounds(of host: String) -> OriginWindow.Bounds {
        if let own = limits[host]?.connections { return OriginWindow.Bounds(connections: own) }
        return isPolite ? .polite : .impolite
    }

    private mutating func setBounds() {
        for host in windows.keys {
            let bounds = bounds(of: host)
            windows[host]?.bounds = bounds
        }
    }

    /// Removes the quarter that was unused for longest.
    private mutating func makeRoom() {
        guard windows.count >= Self.most else { return }
        let idle = windows.filter { $0.value.underWay == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (host, _) in idle.prefix(Self.most / 4) {
            windows[host] = nil
            silent.remove(host)
        }
    }
}
