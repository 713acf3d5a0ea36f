public import XferModel

/// Follows the network: what it is now, and what was told of it.
///
/// What is told lags behind until nothing has changed for `settling`, so that a network that flaps is told of once, when it
/// has come to rest, and every `longestSettling` if it never does. The order is that of the changes, the first state first.
/// Class of origin: AFNetworkReachabilityManager.
public struct Reachability: Hashable, Sendable {
    public static let settling = Duration.milliseconds(500)
    public static let longestSettling = Duration.seconds(5)

    /// Interfaces that cost money.
    public private(set) var metered: [InterfacePattern]
    /// The latest facts; nil while the network is not monitored.
    public private(set) var facts: NetworkFacts?
    /// By the latest facts.
    public private(set) var current: NetworkState
    /// What was told last.
    public private(set) var told: NetworkState
    /// When something was lost last that connections may have needed, or the network went offline.
    public private(set) var lastLoss: MonotonicInstant?

    private var unsettled: Unsettled?

    private struct Unsettled: Hashable {
        var since: MonotonicInstant
        var due: MonotonicInstant
        var hasGained = false
        var hasLost = false
    }

    /// The first state is told at once: it is `told`.
    public init(facts: NetworkFacts? = nil, metered: [InterfacePattern] = []) {
        self.facts = facts
        self.metered = metered
        current = ReachabilityRules.state(of: facts, metered: metered)
        told = current
    }

    /// What has come to rest.
    public struct Change: Hashable, Sendable {
        /// To be told, if it is another one.
        public var state: NetworkState?
        /// Something can be reached that could not be before, or is allowed that was not: what waits may try again.
        public var wakes: Bool
        /// Connections may be dead that do not know it.
        public var hasLost: Bool

        public init(state: NetworkState?, wakes: Bool, hasLost: Bool) {
            self.state = state
            self.wakes = wakes
            self.hasLost = hasLost
        }
    }

    /// Whether tasks that avoid metered links have to wait. Before it is told, too: what is not begun costs nothing.
    public var isMetered: Bool { current == .metered || told == .metered }

    /// The kernel says something new. Answers when to call `onTimer`; nil when there is nothing to wait for.
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

    /// The configuration names other interfaces. Answers as `onFacts`.
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

    /// The time has come. Nil when it has not, or when nothing came of it.
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

    /// What is to be known of the network to judge a failure of what began then.
    public func condition(since begin: MonotonicInstant) -> NetworkCondition {
        NetworkCondition(
            isOffline: current == .offline, hasLostSinceStart: lastLoss.map { $0 > begin } ?? false,
            hasNeighbours: ReachabilityRules.hasNeighbours(facts))
    }
}
