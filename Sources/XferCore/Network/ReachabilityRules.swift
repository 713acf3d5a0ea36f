public import XferModel

/// What links, addresses and routes come to.
public enum ReachabilityRules {
    /// `unknown` without facts; else what the default routes say that lead over a running link while some address of their
    /// family is known beyond the link. Of each family the preferred ones count, those of the main table first; one over a
    /// metered interface makes the whole metered.
    public static func state(of facts: NetworkFacts?, metered: [InterfacePattern]) -> NetworkState {
        guard let facts else { return .unknown }
        let preferred = [false, true].flatMap { facts.preferredLinks(isIPv6: $0) }
        guard !preferred.isEmpty else { return .offline }
        let isMetered = preferred.contains { link in metered.contains { $0.matches(link.name) } }
        return isMetered ? .metered : .unmetered
    }

    /// Whether something can be reached by `new` that could not be by `old`: a link, an address or a route has come.
    public static func hasGained(from old: NetworkFacts?, to new: NetworkFacts?) -> Bool {
        guard let old, let new else { return old != new }
        let hasOtherRoutes = new.otherRoutesDigest != old.otherRoutesDigest && new.otherRoutes >= old.otherRoutes
        return hasOtherRoutes || !new.usable.isSubset(of: old.usable)
            || !new.runningLinks.isSubset(of: old.runningLinks) || !new.defaultRoutes.isSubset(of: old.defaultRoutes)
    }

    /// Whether connections may have died without a word: a link or an address is gone.
    public static func hasLost(from old: NetworkFacts?, to new: NetworkFacts?) -> Bool {
        hasGained(from: new?.withoutRoutes, to: old?.withoutRoutes)
    }
}

extension NetworkFacts {
    fileprivate var runningLinks: Set<Int32> { Set(links.lazy.filter(\.isRunning).map(\.index)) }

    fileprivate var usable: Set<Address> { addresses.filter(\.isUsable) }

    fileprivate var withoutRoutes: NetworkFacts { NetworkFacts(links: links, addresses: addresses) }

    /// The links of this family's best default routes that lead anywhere; several with multipath and equal metrics.
    fileprivate func preferredLinks(isIPv6: Bool) -> [Link] {
        let running = Dictionary(
            links.lazy.filter { $0.isRunning && !$0.isLoopback }.map { ($0.index, $0) }, uniquingKeysWith: { $1 })
        let isAddressed = addresses.contains {
            $0.address.isIPv6 == isIPv6 && $0.isGlobal && $0.isUsable && running[$0.link] != nil
        }
        guard isAddressed else { return [] }
        let routes = defaultRoutes.filter { route in
            route.isIPv6 == isIPv6 && route.links.contains { running[$0] != nil }
        }
        let candidates = routes.contains(where: \.isMain) ? routes.filter(\.isMain) : routes
        let best = candidates.map(\.metric).min()
        return candidates.filter { $0.metric == best }.flatMap { $0.links.compactMap { running[$0] } }
    }
}
