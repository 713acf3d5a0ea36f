public import XferModel

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

    /// Whether a running link has a usable global address.
    public static func hasNeighbours(_ facts: NetworkFacts?) -> Bool { facts.map { !$0.sources.isEmpty } ?? false }

    /// Whether `new` may reach hosts that `old` could not: an address or a route was added.
    public static func hasGained(from old: NetworkFacts?, to new: NetworkFacts?) -> Bool {
        guard let old, let new else { return old != new }
        let hasOtherRoutes = new.otherRoutesDigest != old.otherRoutesDigest && new.otherRoutes >= old.otherRoutes
        return hasOtherRoutes || !new.sources.isSubset(of: old.sources)
            || !new.defaultRoutes.isSubset(of: old.defaultRoutes)
    }

    /// Whether connections may be dead without notice: an address or its link was removed. Links without an
    /// address do not count: containers create and remove them all the time.
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

    /// The running links of this family's best default routes; several with multipath and with equal metrics.
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
