import StrictJSON
import Testing
import XferTestSupport

/// What the daemon says of itself is what rpc-schema/openrpc.json says, and what it does.
@Suite struct SchemaTests {
    private static var root: String { "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") }

    @Test func theCommittedRPCSchemaIsTheOnePrintedAndDiscovered() async throws {
        let kept = try FileTree.text("\(Self.root)/rpc-schema/openrpc.json")
        let printed = try await Command.run("\(try Command.productsDirectory)/xferd", ["--print-schema"])
        #expect(printed.output == kept)
        try await withDaemon { daemon in
            let document = try JSONValue(parsing: Array(kept.utf8))
            #expect(try await daemon.call("rpc.discover") == document)
        }
    }

    /// A little of everything, then the script over all that was said. `make test` does the same for every test.
    @Test(.enabled(if: Command.find("python3") != nil, "needs python3-jsonschema"))
    func messagesOfASessionMatchTheDocument()
        async throws
    {
        let server = try await FaultServer()
        server.serve("/f", .tagged(120, length: 100_000), faults: [[.drop(after: 50_000)]])
        try await withDaemon { daemon in
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", [:])
            let wrong = JSONValue.string("md5=" + String(repeating: "0", count: 32))
            let fields: JSONObject = ["meta": ["job": [1, nil]], "label": "x", "checksum": wrong]
            let id = try await daemon.add(server.url("/f"), fields)
            _ = try await daemon.finish(id)
            let paused = try await daemon.add(server.url("/f"), ["paused": true, "output": "p", "group": "g"])
            _ = try await session.call("task.update", ["id": .integer(paused), "changes": ["priority": "high"]])
            _ = try await session.call("task.resume", ["ids": [.integer(paused)]])
            try await daemon.complete(paused)
            for method in ["queue.stats", "daemon.status", "daemon.config", "task.list", "queue.pause", "queue.resume"]
            {
                _ = try await session.call(method)
            }
            _ = try? await session.call("task.get", ["id": 4711])
            _ = try? await session.call("task.add", ["url": "nonsense"])
            let script = "\(Self.root)/rpc-schema/validate.py"
            let verdict = try await Command.run("/usr/bin/python3", [script, "--transcript", daemon.transcript.path])
            #expect(verdict.isSuccess, "\(verdict)")
        }
    }
}
