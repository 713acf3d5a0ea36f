public import XferModel

/// Follows the state of the network and decides when to announce a change.
///
/// A change is announced when nothing has changed for `settling`. So a flapping network is announced once, when it has
/// settled. If it never settles, it is announced every `longestSettling`. The announcements are in the order of the
/// changes. AFNetworkReachabilityManager is the model.
public struct Reachability: Hashable, Sendable {
    public static let settling = Duration.milliseconds(500)
    public static let longestSettling = Duration.seconds(5)

    /// Patterns of the interfaces whose traffic costs money.
    public private(set) var metered: [InterfacePattern]
    /// The latest facts; nil while the network is not monitored.
    public private(set) var facts: NetworkFacts?
    /// The state that the latest facts show.
    public private(set) var current: NetworkState
    /// The state that was announced last.
    public private(set) var announced: NetworkState
    /// The time at which the network last lost an address, or the link of an address, or went offline. Connections may
    /// have broken then.
    public private(set) var lastLoss: MonotonicInstant?

    private var unsettled: Unsettled?

    private struct Unsettled: Hashable {
        var since: MonotonicInstant
        var due: MonotonicInstant
        var hasGained = false
        var hasLost = false
    }

    /// Creates the state, which counts as already announced.
    public init(facts: NetworkFacts? = nil, metered: [InterfacePattern] = []) {
        self.facts = facts
        self.metered = metered
        current = ReachabilityRules.state(of: facts, metered: metered)
        announced = current
    }

    /// A change that has settled.
    public struct Change: Hashable, Sendable {
        /// The state to announce; nil if it is the state that was announced last.
        public var state: NetworkState?
        /// True if hosts may have become reachable, or their use allowed. Then waiting tasks start again.
        public var wakes: Bool
        /// True if open connections may be dead although their sockets report no error.
        public var hasLost: Bool

        public init(state: NetworkState?, wakes: Bool, hasLost: Bool) {
            self.state = state
            self.wakes = wakes
            self.hasLost = hasLost
        }
    }

    /// True if tasks that avoid metered links have to wait. They wait even before the change is announced, because a
    /// postponed start costs nothing.
    public var isMetered: Bool { current == .metered || announced == .metered }

    /// Applies new facts from the kernel. Returns when to call `onTimer`; nil when no announcement is pending.
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

    /// Applies a new configuration of metered interfaces. Returns when to call `onTimer`; nil when no announcement is
    /// pending.
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

    /// Called when the timer has fired. Returns nil when it is too early, or when the changes have cancelled each
    /// other.
    public mutating func onTimer(at now: MonotonicInstant) -> Change? {
        guard let pending = unsettled, pending.due <= now else { return nil }
        unsettled = nil
        let former = announced
        announced = current
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

/// Derives the state of the network from links, addresses and routes.
public enum ReachabilityRules {
    /// The state of the network; `unknown` without facts.
    ///
    /// A default route counts if its link runs and the machine has a global address of the route's family. If the main
    /// table has such routes of a family, routes of other tables do not count. Of the remaining routes, those with the
    /// lowest metric are preferred. The state is metered if one preferred route uses a metered interface.
    public static func state(of facts: NetworkFacts?, metered: [InterfacePattern]) -> NetworkState {
        guard let facts else { return .unknown }
        let preferred = [false, true].flatMap { facts.preferredLinks(isIPv6: $0) }
        guard !preferred.isEmpty else { return .offline }
        let isMetered = preferred.contains { link in metered.contains { $0.matches(link.name) } }
        return isMetered ? .metered : .unmetered
    }

    /// True if a running link has a usable global address.
    public static func hasNeighbours(_ facts: NetworkFacts?) -> Bool { facts.map { !$0.sources.isEmpty } ?? false }

    /// The identity of the networks of the preferred default routes: their links, with the subnets and IPv4 addresses
    /// there. Nil when there is no such route or nothing is known.
    ///
    /// Links of containers come and go without changing it, and so do temporary IPv6 addresses of one subnet (RFC
    /// 8981).
    public static func identity(of facts: NetworkFacts?) -> String? {
        guard let facts else { return nil }
        let preferred = Set([false, true].flatMap { facts.preferredLinks(isIPv6: $0) })
        guard !preferred.isEmpty else { return nil }
        return preferred.map { link in
            let addresses = facts.sources(on: link).map { source in
                let text = "\(source.address)/\(source.prefixLength)"
                return source.address.isIPv6 ? AddressBlock(text)?.description ?? text : text
            }
            return ([link.name] + Set(addresses).sorted()).joined(separator: " ")
        }.sorted().joined(separator: ", ")
    }

    /// True if `new` may reach hosts that `old` could not: an address or a route was added.
    public static func hasGained(from old: NetworkFacts?, to new: NetworkFacts?) -> Bool {
        guard let old, let new else { return old != new }
        let hasOtherRoutes = new.otherRoutesDigest != old.otherRoutesDigest && new.otherRoutes >= old.otherRoutes
        return hasOtherRoutes || !new.sources.isSubset(of: old.sources)
            || !new.defaultRoutes.isSubset(of: old.defaultRoutes)
    }

    /// True if open connections may be dead: an address was removed, or its link was removed or stopped. Links without
    /// an address do not count, because containers create and remove them all the time.
    public static func hasLost(from old: NetworkFacts?, to new: NetworkFacts?) -> Bool {
        guard let old, let new else { return false }
        return !old.sources.isSubset(of: new.sources)
    }
}

extension NetworkFacts {
    /// Addresses from which this machine can reach other hosts.
    fileprivate var sources: Set<Address> {
        let running = Set(links.lazy.filter { $0.isRunning && !$0.isLoopback }.map(\.index))
        return addresses.filter { $0.isUsable && $0.isGlobal && running.contains($0.link) }
    }

    fileprivate func sources(on link: Link) -> [Address] { sources.filter { $0.link == link.index } }

    /// The running links of this family's best default routes. There are several if a route has several hops, or if
    /// several routes have the lowest metric.
    fileprivate func preferredLinks(isIPv6: Bool) -> [Link] {
        guard sources.contains(where: { $0.address.isIPv6 == isIPv6 }) else { return [] }
        let running = Dictionary(
            links.lazy.filter { $0.isRunning && !$0.isLoopback }.map { ($0.index, $0) }, uniquingKeysWith: { $1 })
        let routes = defaultRoutes.filter { route in
            route.isIPv6 == isIPv6 && route.links.contains { running[$0] != nil }
        }
        let candidates = routes.contains(where: \.isMain) ? routes.filter(\.isMain) : routes
        let best = candidates.map(\.metric).min()
        return candidates.filter { $0.metric == best }.flatMap { $0.links.compactMap { running[$0] } }
    }
}
