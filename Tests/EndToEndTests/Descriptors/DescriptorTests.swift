import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Without file descriptors nothing fails: what needs one waits, and starts stop before there is none.
@Suite(.enabled(if: Command.find("prlimit") != nil, "needs prlimit(1)")) struct DescriptorTests {
    /// Sets how many descriptors the running daemon may have.
    private func limit(_ daemon: DaemonFixture, to count: Int) async throws {
        let pid = try #require(daemon.process).pid
        let done = try await Command.run(
            try #require(Command.find("prlimit")), ["--pid", "\(pid)", "--nofile=\(count):4096"])
        #expect(done.isSuccess, "\(done)")
    }

    /// What a task may lack a descriptor for: its directory, the file it sends, the file of its secret, a connection.
    private func task(_ kind: String, _ server: FaultServer, _ daemon: DaemonFixture) throws -> JSONValue {
        let url = JSONValue.string(server.url("/f"))
        switch kind {
        case "download": return ["url": url, "paused": true]
        case "upload":
            let path = daemon.directory.file("sent")
            try FileTree.write("content", to: path)
            return ["url": url, "kind": "upload", "method": "PUT", "source": .string(path), "paused": true]
        case "secret":
            let path = daemon.directory.file("secret")
            try FileTree.write("word", to: path, mode: 0o600)
            return [
                "url": url, "kind": "data", "paused": true,
                "credential": ["scheme": "bearer", "secret": ["file": .string(path)]],
            ]
        default: return ["url": url, "kind": "data", "paused": true]
        }
    }

    @Test(arguments: ["download", "upload", "secret", "data"])
    func aTaskWithoutAFreeDescriptorWaitsAndContinuesByItself(kind: String) async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(220, length: 50_000))
        try await withDaemon { daemon in
            let session = try daemon.session()
            let added = try await session.call("task.add", try task(kind, server, daemon))
            let id = try #require(added["task"]?["id"])
            try await limit(daemon, to: 3)
            _ = try await session.call("task.resume", ["ids": [id]])
            let view = try await eventually("it waits") { () async throws -> TaskView? in
                let answer = try await session.call("task.get", ["id": id])
                let view = TaskView(json: answer["task"] ?? answer)
                return ["queued", "running"].contains(view.state) ? nil : view
            }
            #expect(view.state == "waiting" && view.waitReason == "out_of_descriptors", "\(view.json.text)")
            #expect(view.errorMessage.lowercased().contains("too many open files"), "\(view.errorMessage)")
            try await limit(daemon, to: 1024)
            try await daemon.wait(try #require(id.integerValue), for: "completed")
        }
    }

    @Test func anAddWithoutAFreeDescriptorIsRefusedTemporarily() async throws {
        try await withDaemon { daemon in
            let session = try daemon.session()
            _ = try await session.call("daemon.status")
            try await limit(daemon, to: 3)
            let refusal = try #require(
                await #expect(throws: RPCRefusal.self) {
                    try await session.call(
                        "task.add", ["url": "http://127.0.0.1:9/f", "dir": .string(daemon.downloads + "/new")])
                })
            #expect(refusal.reason == "limit_exceeded", "\(refusal)")
            try await limit(daemon, to: 1024)
        }
    }

    @Test func theSchedulerStopsStartingTasksBeforeDescriptorsRunOut() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let count = 100
        for index in 0..<count {
            server.serve("/\(index)", .tagged(1000 + UInt64(index), length: 1000)).always(.stall(at: 500, until: gate))
        }
        var options = DaemonFixture.Options(settings: [
            "queue": ["max_active": "200", "max_active_per_host": "200"], "rpc": ["max_clients": "16"],
        ])
        options.launcher = [try #require(Command.find("prlimit")), "--nofile=160"]
        try await withDaemon(options) { daemon in
            let session = try daemon.session()
            let entries = (0..<count).map { JSONValue.object(["url": .string(server.url("/\($0)"))]) }
            let added = try await session.call("task.add", ["tasks": .array(entries)])
            let ids = added["ids"]?.arrayValue?.compactMap(\.integerValue) ?? []
            try #require(ids.count == count)
            try await eventually("some run") { server.requests.count > 5 }
            gate.open()
            for id in ids { try await daemon.wait(id, for: "completed") }
            #expect(try await daemon.events(types: "task.waiting").isEmpty)
        }
    }
}
