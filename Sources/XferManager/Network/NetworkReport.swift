import XferCore
public import XferModel
import XferNetwork

/// The state of the network, for clients and operators.
public struct NetworkReport: Hashable, Sendable {
    public struct Interface: Hashable, Sendable {
        public let link: NetworkFacts.Link
        /// True if the configuration lists it as metered.
        public let isMetered: Bool
        /// True if it has a default route.
        public let hasDefaultRoute: Bool
        public let addresses: [NetworkFacts.Address]
    }

    /// The last published state.
    public let state: NetworkState
    public let isMonitored: Bool
    /// The interfaces by index.
    public let interfaces: [Interface]

    init(_ reachability: Reachability) {
        state = reachability.announced
        isMonitored = reachability.facts != nil
        let facts = reachability.facts ?? NetworkFacts()
        let routed = Set(facts.defaultRoutes.flatMap(\.links))
        let addresses = Dictionary(grouping: facts.addresses, by: \.link)
        interfaces = facts.links.sorted { $0.index < $1.index }.map { link in
            Interface(
                link: link, isMetered: reachability.metered.contains { $0.matches(link.name) },
                hasDefaultRoute: routed.contains(link.index),
                addresses: (addresses[link.index] ?? []).sorted { left, right in
                    (left.address.bytes.count, left.address.description)
                        < (right.address.bytes.count, right.address.description)
                })
        }
    }

    /// The interface with this address.
    public func interface(having address: IPAddress) -> Interface? {
        interfaces.first { $0.addresses.contains { $0.address == address } }
    }

    /// This machine's source address for `destination`; nil if there is no route. Nothing is sent.
    public static func source(to destination: IPAddress) -> IPAddress? { RouteProbe.source(to: destination) }
}
