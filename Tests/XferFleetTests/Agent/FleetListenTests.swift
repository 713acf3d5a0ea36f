import StrictJSON
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

    @Test func aTokenHasItsUsersLimitOverTheFleetAndNoFieldsOfOperators() async throws {
        let port = try FreePort.any()
        let listener = ["listen": "[{ address: \"127.0.0.1:\(port)\" }]"]
        let access = ["access": ["users": "{\"4711\": {roots: [\"/tmp\"], max_tasks: 2}}", "max_stored": "1Mi"]]
        try await withFleet(1, fleet: ["a": listener], settings: access) { fleet in
            let node = fleet.first
            func token(_ name: String, _ options: String...) async throws -> String {
                let made = try await node.ctl(["--fleet", "token", "add", name] + options)
                #expect(made.isSuccess, "\(made)")
                let file = node.daemon.directory.file(name)
                try FileTree.write(made.output, to: file, mode: 0o600)
                return file
            }
            let guest = try await token("guest", "--scope", "own", "--owner", "4711")
            let adder = try await token("adder", "--scope", "add")
            func add(_ params: String, _ token: String) async throws -> Command.Result {
                try await node.ctl([
                    "rpc", "task.add", params, "--server", "http://127.0.0.1:\(port)", "--token-file", token,
                ])
            }
            let task = #"{"url":"http://127.0.0.1:9/a","kind":"data","paused":true}"#
            let three = try await add("{\"tasks\":[\(task),\(task),\(task)]}", guest)
            #expect(!three.isSuccess && three.errors.contains("max_tasks"), "\(three)")
            let two = try await add("{\"tasks\":[\(task),\(task)]}", guest)
            #expect(two.isSuccess, "\(two)")
            #expect(try await !add(task, guest).isSuccess)
            let tasks = try await node.call("task.list")["tasks"]?.arrayValue ?? []
            let id = try #require(tasks.first?["id"]?.integerValue)
            #expect(tasks.count == 2)
            _ = try await node.call("task.cancel", ["ids": [.integer(id)]])
            try await node.wait(id, for: "cancelled")
            let room = try await add(task, guest)
            #expect(room.isSuccess, "\(room)")

            // A repeated add is answered at the limit, too.
            let keyed = #"{"url":"http://127.0.0.1:9/a","kind":"data","paused":true,"client_key":"k"}"#
            #expect(try await !add(keyed, guest).isSuccess)
            _ = try await node.call("task.cancel", ["ids": [.integer(id &+ 1)]])
            try await node.wait(id &+ 1, for: "cancelled")
            #expect(try await add(keyed, guest).isSuccess)
            let again = try await add("{\"tasks\":[\(keyed)]}", guest)
            #expect(again.isSuccess && again.output.contains("existing"), "\(again)")

            // A token that does not operate has no rights of an operator, although its user is one.
            let field = #"{"url":"http://127.0.0.1:9/a","kind":"data","paused":true,"interface":"lo"}"#
            let refused = try await add(field, adder)
            #expect(!refused.isSuccess && refused.errors.contains("interface"), "\(refused)")
            #expect(try await add(task, adder).isSuccess)
            // 1 MiB may be stored for it.
            let text = String(repeating: "x", count: 100_000)
            func body(_ key: String) -> String {
                "{\"url\":\"http://127.0.0.1:9/a\",\"kind\":\"data\",\"method\":\"PUT\",\"paused\":true,"
                    + "\"body\":{\"raw\":\"\(text)\"},\"client_key\":\"\(key)\"}"
            }
            for number in 0..<10 {
                let one = try await add(body("\(number)"), adder)
                #expect(one.isSuccess, "\(one)")
            }
            let other = try await add(body("other"), adder)
            #expect(!other.isSuccess && other.errors.contains("access.max_stored"), "\(other)")
            #expect(try await add(body("0"), adder).isSuccess)
        }
    }
}
