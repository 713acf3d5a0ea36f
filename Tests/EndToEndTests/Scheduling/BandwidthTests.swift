import StrictJSON
import Testing
import XferTestSupport

/// Limits over all transfers of the real daemon. Faster than a limit is wrong; slower is only a busy machine.
@Suite struct BandwidthTests {
    private static let length: Int64 = 128 << 10

    private func tasks(_ server: FaultServer) -> JSONValue {
        .array((1...4).map { .object(["url": .string(server.url("/\($0)")), "group": "g"]) })
    }

    private func serve() async throws -> FaultServer {
        let server = try await FaultServer()
        for number in 1...4 { server.serve("/\(number)", .tagged(UInt64(number), length: Self.length)) }
        return server
    }

    private func elapsed(_ daemon: DaemonFixture, _ server: FaultServer) async throws -> Duration {
        let start = ContinuousClock.now
        let ids = try await daemon.call("task.add", ["tasks": tasks(server)])["ids"]
        for id in ids?.arrayValue ?? [] { try await daemon.complete(try #require(id.integerValue)) }
        return ContinuousClock.now - start
    }

    @Test func aConfiguredLimitAppliesToAllTransfersTogether() async throws {
        let server = try await serve()
        try await withDaemon(DaemonFixture.Options(settings: ["bandwidth": ["recv": "256Ki"]])) { daemon in
            let limits = try await daemon.call("queue.stats")["limits"]
            #expect(limits?["max_recv_rate"] == 262_144)
            let time = try await elapsed(daemon, server)
            #expect(time > .milliseconds(1700))
        }
    }

    @Test func limitsSetOverRPCHoldAtOnceAndOverARestart() async throws {
        let server = try await serve()
        try await withDaemon { daemon in
            let set = try await daemon.call("queue.set_limits", ["max_recv_rate": 1000])
            #expect(set["limits"]?["max_recv_rate"] == 1000)
            let ids = try await daemon.call("task.add", ["tasks": tasks(server)])["ids"]
            try await daemon.wait(1, for: "running")
            try await daemon.stop()
            try await daemon.start()
            let limits = try await daemon.call("queue.stats")["limits"]
            #expect(limits?["max_recv_rate"] == 1000)
            // Minutes under the limit.
            _ = try await daemon.call("queue.set_limits", ["max_recv_rate": nil])
            for id in ids?.arrayValue ?? [] { try await daemon.complete(try #require(id.integerValue)) }
        }
    }

    @Test func aProfilesRateAppliesToItsTasks() async throws {
        let server = try await serve()
        try await withDaemon { daemon in
            let profile = try await daemon.call(
                "profile.set",
                ["profile": ["name": "p", "base_url": .string(server.url("/")), "max_recv_rate": 262_144]])
            #expect(profile["profile"]?["max_recv_rate"] == 262_144)
            let start = ContinuousClock.now
            for number in 1...4 { _ = try await daemon.add("\(number)", ["profile": "p"]) }
            for id in 1...4 { try await daemon.complete(Int64(id)) }
            #expect(ContinuousClock.now - start > .milliseconds(1700))
        }
    }

    @Test func aGroupsRateAppliesToItsTasks() async throws {
        let server = try await serve()
        try await withDaemon { daemon in
            let group = try await daemon.call("group.set", ["name": "g", "max_recv_rate": 262_144])["group"]
            #expect(group?["max_recv_rate"] == 262_144)
            let time = try await elapsed(daemon, server)
            #expect(time > .milliseconds(1700))
            _ = try await daemon.call("group.remove", ["name": "g"])
            let reset = try await daemon.call("group.get", ["name": "g"])["group"]
            #expect(reset?["max_recv_rate"] == nil)
        }
    }
}
