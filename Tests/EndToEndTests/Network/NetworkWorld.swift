import StrictJSON
import Testing
import XferTestSupport

/// A daemon at home and a web server that lies beyond a router: everything in network namespaces of a test's own.
///
/// `home` has `eth0` and `wwan0`, whose other ends are in `away`; the server's addresses are of neither link's network, so
/// that only a default route leads there.
struct NetworkWorld {
    static let server = "203.0.113.80"
    static let server6 = "2001:db8:80::80"

    let home: NetworkNamespace
    let away: NetworkNamespace
    let nginx: NginxFixture

    /// - Parameter rate: bytes per second the server sends over each connection; 0 is unlimited.
    init(rate: Int64 = 0) async throws {
        home = try await NetworkNamespace()
        away = try await NetworkNamespace()
        for (index, interface) in ["eth0", "wwan0"].enumerated() {
            let other = "peer\(index)"
            try await home.tie(interface, to: away, other)
            try await away.ip("addr", "add", "198.51.\(100 + index).1/24", "dev", other)
            try await away.ip("addr", "add", "2001:db8:\(index)::1/64", "dev", other, "nodad")
        }
        try await away.ip("addr", "add", "\(Self.server)/32", "dev", "lo")
        try await away.ip("addr", "add", "\(Self.server6)/128", "dev", "lo", "nodad")
        var options = NginxFixture.Options()
        options.addresses = [Self.server, "[\(Self.server6)]"]
        options.launcher = try away.launcher()
        options.limitRate = rate
        nginx = try await NginxFixture(options)
        try await address("eth0")
    }

    /// Gives the interface its addresses.
    func address(_ interface: String, host: Int = 2) async throws {
        let index = interface == "eth0" ? 0 : 1
        try await home.ip("addr", "add", "198.51.\(100 + index).\(host)/24", "dev", interface)
        try await home.ip("addr", "add", "2001:db8:\(index)::\(host)/64", "dev", interface, "nodad")
    }

    /// Adds default routes over the interface, for both versions of IP at once: with the first of them tasks are woken.
    func route(_ interface: String, metric: Int = 100) async throws {
        let index = interface == "eth0" ? 0 : 1
        try await home.ip(together: [
            "route add 0.0.0.0/0 via 198.51.\(100 + index).1 metric \(metric)",
            "route add ::/0 via 2001:db8:\(index)::1 dev \(interface) metric \(metric)",
        ])
    }

    /// Removes them.
    func unroute(_ interface: String) async throws {
        try await home.ip("route", "del", "default", "dev", interface)
        try await home.ip("-6", "route", "del", "default", "dev", interface)
    }

    func url(_ name: String) -> String { "http://\(Self.server):\(nginx.httpPort)/\(name)" }
    func url6(_ name: String) -> String { "http://[\(Self.server6)]:\(nginx.httpPort)/\(name)" }

    /// Puts a file up and says what it is.
    func publish(_ name: String, _ seed: UInt64, length: Int64 = 50_000) throws -> SourceVersion {
        let source = SourceVersion.tagged(seed, length: length)
        try nginx.publish(source, as: name)
        return source
    }

    /// A daemon at home.
    func withDaemon(
        _ settings: [String: [String: String]] = [:], resolvConf: String? = nil, stateDirectory: String? = nil,
        body: (DaemonFixture) async throws -> Void
    ) async throws {
        var options = DaemonFixture.Options(settings: settings)
        options.launcher = try home.launcher(resolvConf: resolvConf)
        options.stateDirectory = stateDirectory
        try await XferTestSupport.withDaemon(options, body: body)
    }
}

extension DaemonFixture {
    /// Waits until the network is said to be so.
    func waitForNetwork(_ state: String) async throws {
        try await eventually("the network is \(state)") {
            try await call("daemon.status")["network"]?.stringValue == state
        }
    }

    /// Waits until the task waits for the network, and expects that no try was spent on it.
    @discardableResult
    func waitsForNetwork(_ id: Int64, sourceLocation: SourceLocation = #_sourceLocation) async throws -> TaskView {
        let view: TaskView = try await eventually("task \(id) waits for the network") {
            let found = try await self.view(id)
            if found.isTerminal { throw TimedOut("task \(id) has ended: \(found.json.text)") }
            return found.state == "waiting" && found.waitReason == "network" ? found : nil
        }
        #expect(view.json["attempts"]?.integerValue == 0, "\(view.json.text)", sourceLocation: sourceLocation)
        return view
    }

    /// Waits until the task has completed by itself, and expects that it is this source.
    func completes(
        _ id: Int64, _ source: SourceVersion, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let task = try await wait(id, for: "completed")
        try expectFile(TaskView(json: task), is: source, sourceLocation: sourceLocation)
    }

    /// What `network.changed` has said so far.
    func networkStates() async throws -> [String] {
        try await events(types: "network.changed").compactMap { $0["network"]?.stringValue }
    }

    /// What this task has waited for, in order.
    func waitReasons(of id: Int64) async throws -> [String] {
        try await events(of: id, types: "task.waiting").compactMap { $0["wait"]?["reason"]?.stringValue }
    }
}
