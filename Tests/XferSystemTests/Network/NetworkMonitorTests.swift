import Glibc
import Testing
import XferModel
import XferSystem
import XferTestSupport

/// The monitor in networks of its own, which ip(8) changes under it.
@Suite(.enabled(if: NetworkNamespace.isPossible, Comment(rawValue: NetworkNamespace.requirement)))
struct NetworkMonitorTests {
    /// The facts that a monitor reported, in order.
    private final class Told: Sendable {
        private let stream: AsyncStream<NetworkFacts?>
        private let continuation: AsyncStream<NetworkFacts?>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func add(_ facts: NetworkFacts?) { continuation.yield(facts) }

        /// The first from now on that is as wanted.
        func next(_ what: String, where isWanted: @escaping @Sendable (NetworkFacts) -> Bool) async throws
            -> NetworkFacts
        {
            let patience = Task {
                try await Task.sleep(for: Patience.limit)
                continuation.finish()
            }
            defer { patience.cancel() }
            for await facts in stream {
                if let facts, isWanted(facts) { return facts }
            }
            throw TimedOut("the monitor never reported: \(what)")
        }
    }

    private func watch(_ namespace: NetworkNamespace) async throws -> (NetworkMonitor, Told) {
        let announced = Told()
        return (try await namespace.run { try NetworkMonitor { announced.add($0) } }, announced)
    }

    @Test func linksAddressesAndRoutesAreNoticedWhenTheyChange() async throws {
        let (home, away) = (try await NetworkNamespace(), try await NetworkNamespace())
        let (monitor, announced) = try await watch(home)
        #expect(monitor.initial.links.map(\.name) == ["lo"])
        #expect(monitor.initial.defaultRoutes.isEmpty)

        try await home.tie("eth0", to: away, "peer0")
        var facts = try await announced.next("the link runs") {
            $0.links.contains { $0.name == "eth0" && $0.isRunning }
        }
        let index = try #require(facts.links.first { $0.name == "eth0" }?.index)
        try await home.ip("addr", "add", "198.51.100.2/24", "dev", "eth0")
        try await home.ip("addr", "add", "2001:db8::2/64", "dev", "eth0", "nodad")
        facts = try await announced.next("both addresses") {
            $0.addresses.count { $0.link == index && $0.isGlobal } == 2
        }
        #expect(
            Set(facts.addresses.filter { $0.isGlobal && $0.link == index }.map { "\($0.address)/\($0.prefixLength)" })
                == ["198.51.100.2/24", "2001:db8::2/64"])
        #expect(facts.otherRoutes > 0)

        try await home.ip("route", "add", "default", "via", "198.51.100.1", "metric", "7")
        try await home.ip("-6", "route", "add", "default", "via", "2001:db8::1", "metric", "9")
        try await home.ip("route", "add", "blackhole", "203.0.113.0/24")
        facts = try await announced.next("both default routes") { $0.defaultRoutes.count == 2 }
        #expect(
            facts.defaultRoutes == [
                NetworkFacts.DefaultRoute(metric: 7, links: [index]),
                NetworkFacts.DefaultRoute(isIPv6: true, metric: 9, links: [index]),
            ])

        // The kernel does not report IPv4 routes that go with their address.
        try await home.ip("addr", "del", "198.51.100.2/24", "dev", "eth0")
        _ = try await announced.next("the route has gone with its address") { $0.defaultRoutes.map(\.isIPv6) == [true] }
        try await home.ip("addr", "add", "198.51.100.3/24", "dev", "eth0")
        try await home.ip("route", "add", "default", "via", "198.51.100.1")
        _ = try await announced.next("another route") { $0.defaultRoutes.count == 2 }
        // Nor does it report routes that go with a link.
        try await away.ip("link", "set", "peer0", "down")
        _ = try await announced.next("the other end is down") {
            $0.links.contains { $0.name == "eth0" && !$0.isRunning }
        }
        try await home.ip("link", "set", "eth0", "down")
        _ = try await announced.next("all routes have gone with the link") { $0.defaultRoutes.isEmpty }
        try await home.ip("link", "del", "eth0")
        _ = try await announced.next("the link is gone") { $0.links.map(\.name) == ["lo"] }
        monitor.stop()
    }

    @Test func routesOverSeveralLinksAndOfOtherTablesAreNoticed() async throws {
        let home = try await NetworkNamespace()
        for (name, address) in [("one", "198.51.100.2/24"), ("two", "203.0.113.2/24")] {
            try await home.tie(name, to: home, "peer-\(name)")
            try await home.ip("addr", "add", address, "dev", name)
        }
        try await home.ip(
            "route", "add", "default", "nexthop", "via", "198.51.100.1", "nexthop", "via", "203.0.113.1")
        try await home.ip("route", "add", "default", "via", "203.0.113.1", "table", "100")
        let (monitor, _) = try await watch(home)
        let routes = monitor.initial.defaultRoutes
        #expect(routes.count == 2)
        #expect(routes.first(where: \.isMain)?.links.count == 2)
        #expect(routes.first { !$0.isMain }?.links.count == 1)
    }

    /// More changes at once than a socket holds: the final state counts.
    @Test func aFloodOfChangesEndsInTheRightState() async throws {
        let home = try await NetworkNamespace()
        let (monitor, announced) = try await watch(home)
        try await home.tie("d0", to: home, "d1")
        let batch = (1...4000).map { "route add 203.0.\($0 / 250).\($0 % 250)/32 dev d0\n" }.joined()
        let ip = try #require(Command.find("ip"))
        let result = try await Command.run(ip, ["-n", home.name, "-batch", "-"], input: batch)
        #expect(result.isSuccess, "\(result)")
        // The links' own addresses become usable on the way, which changes routes, too.
        let routes = try await announced.next("all routes") {
            $0.otherRoutes >= 4000 && $0.addresses.count == 4 && $0.addresses.allSatisfy(\.isUsable)
        }
        let (again, _) = try await watch(home)
        #expect(again.initial.otherRoutesDigest == routes.otherRoutesDigest)
        #expect(again.initial == routes)
        monitor.stop()
    }

    @Test func theRouteToAnAddressIsTheKernels() async throws {
        let home = try await NetworkNamespace()
        try await home.tie("d0", to: home, "d1")
        try await home.ip("addr", "add", "198.51.100.2/24", "dev", "d0")
        let sources = try await home.run {
            ["127.0.0.1", "198.51.100.9", "203.0.113.9", "2001:db8::9", "::1"].map { text in
                IPAddress(text).flatMap { RouteProbe.source(to: $0) }?.description
            }
        }
        #expect(sources == ["127.0.0.1", "198.51.100.2", nil, nil, "::1"])
    }

    @Test func stoppingTheMonitorEndsItsThread() async throws {
        let home = try await NetworkNamespace()
        func threads() throws -> Int {
            try FileTree.names(in: "/proc/self/task").count { thread in
                (try? FileTree.text("/proc/self/task/\(thread)/comm")) == "xferd-network\n"
            }
        }
        let monitors = try await home.run { try (0..<20).map { _ in try NetworkMonitor { _ in } } }
        #expect(try threads() >= 20)
        for monitor in monitors { monitor.stop() }
        // Those of other tests may live.
        try await eventually("the threads end") { try threads() < 20 }
    }
}
