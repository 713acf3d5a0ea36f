import StrictJSON
import Testing
import XferTestSupport

/// Links that cost money.
@Suite(.enabled(if: NetworkNamespace.isPossible, Comment(rawValue: NetworkNamespace.requirement)))
struct MeteredTests {
    private static let settings = ["network": ["metered_interfaces": "[wwan*]"]]
    /// More than a minute for two million bytes: none arrives whole before its limit is lifted.
    private static let slowly: JSONObject = ["max_recv_rate": 20_000]

    private func liftLimit(of id: Int64, _ daemon: DaemonFixture) async throws {
        _ = try await daemon.call("task.update", ["id": .integer(id), "changes": ["max_recv_rate": 0]])
    }

    @Test func aTaskThatAvoidsMeteredLinksStopsOnOneAndContinuesOnAnother() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 90, length: 2_000_000)
        let other = try world.publish("g", 91, length: 2_000_000)
        try await world.address("wwan0")
        try await world.route("eth0")
        try await world.route("wwan0", metric: 700)
        try await world.withDaemon(Self.settings) { daemon in
            try await daemon.waitForNetwork("unmetered")
            var fields = Self.slowly
            (fields["allow_metered"], fields["max_retries"]) = (false, 0)
            let careful = try await daemon.add(world.url("f"), fields)
            let careless = try await daemon.add(world.url("g"), Self.slowly)
            for id in [careful, careless] { try await daemon.waitForBytes(10_000, of: id) }
            try await world.home.ip("route", "del", "default", "dev", "eth0")
            try await world.home.ip("-6", "route", "del", "default", "dev", "eth0")
            let view = try await daemon.waitsForNetwork(careful)
            #expect(view.received > 0)
            try await liftLimit(of: careless, daemon)
            try await daemon.completes(careless, other)
            #expect(try await daemon.waitReasons(of: careless) == [])
            // Resuming does not make it free of charge.
            _ = try await daemon.call("task.resume", ["ids": [.integer(careful)]])
            try await daemon.waitsForNetwork(careful)
            let late = try await daemon.add(world.url("g"), ["allow_metered": false])
            try await daemon.waitsForNetwork(late)
            #expect(try await daemon.events(of: late, types: "task.started").isEmpty)
            try await liftLimit(of: careful, daemon)
            try await world.route("eth0")
            try await daemon.completes(careful, source)
            try await daemon.completes(late, other)
            #expect(try await daemon.networkStates() == ["unmetered", "metered", "unmetered"])
            try await eventually("it is logged") { try world.nginx.log.last { $0.target == "/f" }?.status == 206 }
        }
    }

    @Test func avoidMeteredCanBeChangedInEveryState() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 92, length: 2_000_000)
        try await world.address("wwan0")
        try await world.route("wwan0")
        try await world.withDaemon(Self.settings) { daemon in
            try await daemon.waitForNetwork("metered")
            let id = try await daemon.add(world.url("f"), Self.slowly)
            try await daemon.waitForBytes(10_000, of: id)
            func change(_ allow: Bool) async throws {
                let result = try await daemon.call(
                    "task.update", ["id": .integer(id), "changes": ["allow_metered": .bool(allow)]])
                #expect(result["task"]?["allow_metered"] == .bool(allow))
            }
            try await change(false)
            try await daemon.waitsForNetwork(id)
            try await change(true)
            try await liftLimit(of: id, daemon)
            try await daemon.completes(id, source)
            #expect(try await daemon.waitReasons(of: id) == ["network"])
        }
    }

    @Test func avoidMeteredFollowsTheProfileAndAReloadedConfiguration() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 93)
        try await world.address("wwan0")
        try await world.route("wwan0")
        try await world.withDaemon(Self.settings) { daemon in
            _ = try await daemon.call("profile.set", ["profile": ["name": "thrifty", "allow_metered": false]])
            let thrifty = try await daemon.add(world.url("f"), ["profile": "thrifty"])
            let lavish = try await daemon.add(world.url("f"), ["profile": "thrifty", "allow_metered": nil])
            try await daemon.completes(lavish, source)
            try await daemon.waitsForNetwork(thrifty)
            try daemon.configure([:])
            daemon.reload()
            try await daemon.completes(thrifty, source)
            #expect(try await daemon.networkStates() == ["metered", "unmetered"])
        }
    }

    @Test func xferctlSetsAndShowsAvoidMetered() async throws {
        let world = try await NetworkWorld()
        let source = try world.publish("f", 94)
        try await world.address("wwan0")
        try await world.route("wwan0")
        try await world.withDaemon(Self.settings) { daemon in
            let added = try await daemon.ctl("add", "--no-metered", "-o", "x", world.url("f"))
            #expect(added.isSuccess, "\(added)")
            try await daemon.waitsForNetwork(1)
            #expect(try await daemon.ctl("show", "1").output.contains("for the network"))
            let shown = try await daemon.ctl("network", NetworkWorld.server)
            #expect(shown.isSuccess && shown.output.hasPrefix("metered\n"), "\(shown)")
            #expect(shown.output.contains("203.0.113.80: reachable from 198.51.101.2 over wwan0"), "\(shown)")
            let json = try JSONValue(
                parsing: Array(try await daemon.ctl("network", "192.0.2.77", "--json").output.utf8))
            #expect(
                json["route"] == ["host": "192.0.2.77", "exists": true, "source": "198.51.101.2", "interface": "wwan0"])
            let wwan = try #require(json["interfaces"]?.arrayValue?.first { $0["name"] == "wwan0" })
            #expect(wwan["metered"] == true && wwan["default_route"] == true && wwan["running"] == true)
            #expect(try await daemon.ctl("network", "files.example").output.contains("names are not looked up"))
            #expect(try await daemon.ctl("status").output.contains("metered"))
            let updated = try await daemon.ctl("update", "1", "--metered")
            #expect(updated.isSuccess, "\(updated)")
            try await daemon.completes(1, source)
            try await eventually("systemd is notified") {
                daemon.notifications.contains { $0.hasPrefix("STATUS=") && $0.hasSuffix("network metered") }
            }
        }
    }
}
