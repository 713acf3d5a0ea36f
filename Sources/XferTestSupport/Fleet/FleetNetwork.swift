import Glibc
import NIOConcurrencyHelpers

/// A bridge on this machine, to which network namespaces are plugged: each is the machine of a node. Gone with the last
/// reference.
public final class FleetNetwork: Sendable {
    /// The way in which a node is cut off.
    public enum Cut: CaseIterable, Sendable {
        /// The node sees that its link is down.
        case unplugged
        /// The node's link is up, and no packet passes.
        case silent
    }

    /// This machine's, for servers that the nodes reach.
    public let address: String
    private let name: String
    private let subnet: String
    private let machines = NIOLockedValueBox<[NetworkNamespace]>([])
    private static let count = NIOLockedValueBox(0)

    public init() async throws {
        let number = Self.count.withLockedValue { count in
            count += 1
            return count
        }
        // 198.18.0.0/15 is for tests of networks (RFC 2544).
        subnet = "198.\(18 + number % 2).\(getpid() % 250)"
        address = "\(subnet).1"
        name = "xf\(getpid())n\(number)"
        try await Self.ip("link", "add", "name", name, "type", "bridge")
        try await Self.ip("address", "add", "\(address)/24", "dev", name)
        try await Self.ip("link", "set", name, "up")
    }

    deinit { _ = system("\(Command.find("ip") ?? "ip") link delete \(name) >/dev/null 2>&1") }

    /// Plugs a namespace in, as the machine of this number from 1 to 200, and keeps it.
    public func plug(_ namespace: NetworkNamespace, as number: Int) async throws {
        machines.withLockedValue { $0.append(namespace) }
        try await Self.ip(
            "link", "add", link(number), "type", "veth", "peer", "name", "eth0", "netns", namespace.name)
        try await Self.ip("link", "set", link(number), "master", name, "up")
        try await namespace.ip("address", "add", "\(subnet).\(number + 1)/24", "dev", "eth0")
        try await namespace.ip("link", "set", "eth0", "up")
        try await namespace.ip("route", "add", "default", "via", address)
    }

    public func cut(_ number: Int, _ cut: Cut) async throws {
        switch cut {
        case .unplugged: try await Self.ip("link", "set", link(number), "down")
        case .silent: try await Self.ip("link", "set", link(number), "nomaster")
        }
    }

    /// Ends every cut.
    public func mend(_ number: Int) async throws {
        try await Self.ip("link", "set", link(number), "master", name, "up")
    }

    /// The name of a link; at most 15 bytes.
    private func link(_ number: Int) -> String { "\(name)v\(number)" }

    private static func ip(_ arguments: String...) async throws {
        guard let ip = Command.find("ip") else { throw TimedOut("ip is not installed: apt-get install iproute2") }
        let result = try await Command.run(ip, arguments)
        guard result.isSuccess else { throw TimedOut("ip \(arguments.joined(separator: " ")): \(result)") }
    }
}
