public import XferModel

/// Follows the state of the network and decides when to announce it.
///
/// A change is announced when nothing has changed for `settling`. So a flapping network is announced once, when it has
/// settled, or every `longestSettling` if it never does. The announcements are in the order of the changes, beginning
/// with the first state. Class of origin: AFNetworkReachabilityManager.
public struct Reachability: Hashable, Sendable {
    public static let settling = Duration.milliseconds(500)
    public static let longestSettling = Duration.seconds(5)

    /// Interfaces that cost money.
    public private(set) var metered: [InterfacePattern]
    /// The latest facts; nil while the network is not monitored.
    public private(set) var facts: NetworkFacts?
    /// The state that the latest facts show.
    public private(set) var current: NetworkState
    /// The state that was announced last.
    public private(set) var told: NetworkState
    /// When an address, a link or a route was last lost that connections may have used, or the network went offline.
    public private(set) var lastLoss: MonotonicInstant?

    private var unsettled: Unsettled?

    private struct Unsettled: Hashable {
        var since: MonotonicInstant
        var due: MonotonicInstant
        var hasGained = false
        var hasLost = false
    }

    /// The first state counts as announced: it is `told`.
    public init(facts: NetworkFacts? = nil, metered: [InterfacePattern] = []) {
        self.facts = facts
        self.metered = metered
        current = ReachabilityRules.state(of: facts, metered: metered)
        told = current
    }

    /// A change that has settled.
    public struct Change: Hashable, Sendable {
        /// The state to announce; nil when it is the announced one.
        public var state: NetworkState?
        /// Hosts may be reachable, or allowed, that were not before: waiting tasks may try again.
        public var wakes: Bool
        /// Connections may be dead without having noticed it.
        public var hasLost: Bool

        public init(state: NetworkState?, wakes: Bool, hasLost: Bool) {
            self.state = state
            self.wakes = wakes
            self.hasLost = hasLost
        }
    }

    /// Whether tasks that avoid metered links have to wait. They wait before the change is announced, too: a start that
    /// is postponed costs nothing.
    public var isMetered: Bool { current == .metered || told == .metered }

    /// The kernel reports new facts. Returns when to call `onTimer`; nil when no announcement is pending.
    public mutating func onFacts(_ facts: NetworkFacts?, at now: MonotonicInstant) -> MonotonicInstant? {
        guard facts != self.facts else { return unsettled?.due }
        let state = ReachabilityRules.state(of: facts, metered: metered)
        let hasLost =
            ReachabilityRules.hasLost(from: self.facts, to: facts) || state == .offline && current != .offline
        var pending = unsettled ?? Unsettled(since: now, due: now)
        pending.hasGained = pending.hasGained || ReachabilityRules.hasGained(from: self.facts, to: facts)
        pending.hasLost = pending.hasLost || hasLost
        pending.due = min(now.advanced(by: Self.settling), pending.since.advanced(by: Self.longestSettling))
        unsettled = pending
        self.facts = facts
        if hasLost { lastLoss = now }
        current = state
        return pending.due
    }

    /// The configuration names other metered interfaces. Returns as `onFacts`.
    public mutating func onMetered(_ metered: [InterfacePattern], at now: MonotonicInstant) -> MonotonicInstant? {
        self.metered = metered
        let state = ReachabilityRules.state(of: facts, metered: metered)
        guard state != current else { return unsettled?.due }
        current = state
        var pending = unsettled ?? Unsettled(since: now, due: now)
        pending.due = now
        unsettled = pending
        return now
    }

    /// The timer has fired. Nil when it is too early, or when the changes have cancelled each other.
    public mutating func onTimer(at now: MonotonicInstant) -> Change? {
        guard let pending = unsettled, pending.due <= now else { return nil }
        unsettled = nil
        let former = told
        told = current
        let change = Change(
            state: former == current ? nil : current,
            wakes: pending.hasGained || former == .metered && current != .metered
                || former == .offline && current != .offline,
            hasLost: pending.hasLost)
        return change.state == nil && !change.wakes && !change.hasLost ? nil : change
    }

    /// The condition of the network for judging a failure of a run that began at `begin`.
    public func condition(since begin: MonotonicInstant) -> NetworkCondition {
        NetworkCondition(
            isOffline: current == .offline, hasLostSinceStart: lastLoss.map { $0 > begin } ?? false,
            hasNeighbours: ReachabilityRules.hasNeighbours(facts))
    }
}
