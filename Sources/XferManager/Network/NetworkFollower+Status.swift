import NIOConcurrencyHelpers
import XferCore
import XferModel
public import XferProtocol
import XferSystem

extension NetworkFollower {
    /// The current state of the network, and the route to a host that is an address. Nothing is sent.
    public nonisolated func status(routeTo host: String? = nil) -> NetworkStatus.Result {
        let known = reachability.withLockedValue(\.self)
        let facts = known.facts ?? NetworkFacts()
        let routed = Set(facts.defaultRoutes.flatMap(\.links))
        let addresses = Dictionary(grouping: facts.addresses, by: \.link)
        var result = NetworkStatus.Result()
        result.state = OpenEnum(known.announced)
        result.monitored = known.facts != nil
        result.interfaces = facts.links.sorted { $0.index < $1.index }.map { link in
            var record = NetworkStatus.Interface()
            record.name = link.name
            record.index = Int(clamping: link.index)
            record.running = link.isRunning
            record.metered = known.metered.contains { $0.matches(link.name) }
            record.defaultRoute = routed.contains(link.index)
            record.addresses = (addresses[link.index] ?? []).sorted { left, right in
                (left.address.bytes.count, left.address.description)
                    < (right.address.bytes.count, right.address.description)
            }.map { "\($0.address)/\($0.prefixLength)" }
            return record
        }
        result.route = host.map { Self.route(to: $0, facts) }
        return result
    }

    private static func route(to host: String, _ facts: NetworkFacts) -> NetworkStatus.Route {
        var route = NetworkStatus.Route(host: host)
        guard let destination = IPAddress(host) ?? IPAddress(host: host) else { return route }
        let source = RouteProbe.source(to: destination)
        route.exists = source != nil
        route.source = source?.description
        let links = Set(facts.addresses.filter { $0.address == source }.map(\.link))
        route.interface = facts.links.filter { links.contains($0.index) }.min { $0.index < $1.index }?.name
        return route
    }
}
