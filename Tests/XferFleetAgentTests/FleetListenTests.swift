import Testing
import XferTestSupport

/// Clients on the network: a token is good at every node that listens.
@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetListenTests {
    @Test func aTokenIsGoodAtEveryNodeUntilItIsRevoked() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "hello") }
        let ports = ["a": try FreePort.any(), "b": try FreePort.any()]
        let listeners = ports.mapValues { ["listen": "[{ address: \"127.0.0.1:\($0)\" }]"] }
        try await withFleet(2, fleet: listeners) { fleet in
            let (first, second) = (fleet.nodes[0], fleet.nodes[1])
            let file = first.daemon.directory.file("token")
            let made = try await first.ctl("--fleet", "token", "add", "ops", "--scope", "operate")
            #expect(made.isSuccess && made.output.hasPrefix("xfer_"), "\(made)")
            try FileTree.write(made.output, to: file, mode: 0o600)
            func remote(_ node: String, _ words: String...) async throws -> Command.Result {
                let server = "http://127.0.0.1:\(ports[node] ?? 0)"
                return try await first.ctl(words + ["--server", server, "--token-file", file])
            }
            // Where it was made it is good at once, elsewhere after a beat.
            #expect(try await remote("a", "list").isSuccess)
            try await eventually("the other node knows it") { try await remote("b", "list").isSuccess }
            let added = try await remote("b", "add", "--wait", "-o", "far", server.url("/far"))
            #expect(added.isSuccess, "\(added)")
            let listed = try await remote("a", "list")
            #expect(listed.output.contains("completed"), "\(listed)")
            // A node's tasks must not call the fleet through its listener.
            let inward = "http://127.0.0.1:\(ports["a"] ?? 0)/healthz"
            let refused = try await first.ctl("add", "--socket", first.daemon.socket, inward)
            #expect(!refused.isSuccess && refused.errors.contains("127.0.0.1"), "\(refused)")

            let tokens = try await second.ctl("--fleet", "token", "list")
            #expect(tokens.output.contains("ops") && !tokens.output.contains("xfer_"), "\(tokens)")
            let twice = try await second.ctl("--fleet", "token", "add", "ops", "--scope", "read")
            #expect(!twice.isSuccess && twice.errors.contains("ops"), "\(twice)")
            #expect(try await second.ctl("--fleet", "token", "revoke", "ops").isSuccess)
            #expect(try await !remote("b", "list").isSuccess)
            try await eventually("the other node refuses it") { try await !remote("a", "list").isSuccess }
        }
    }
}
