import StrictJSON
import Testing
import XferTestSupport

/// One task's events, word for word: what clients are written against.
@Suite struct TaskTranscriptTests {
    @Test func aBrokenAndResumedDownloadEmitsTheDocumentedEvents() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(110, length: 300_000)
        server.on("/start") { _ in .redirect(to: "/f?token=secret") }
        server.serve("/f", source, faults: [[.drop(after: 100_000)]])
        try await withDaemon { daemon in
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", ["types": .array(Self.types.map(JSONValue.string))])
            let id = try await daemon.add(server.url("/start"), ["label": "golden", "output": "out.bin"])
            // No pushing here: the back-off before the second try is part of the transcript.
            try await daemon.wait(id, for: "completed")
            let recorded = try await daemon.events(of: id)
            let lines = recorded.map { normalized($0, port: server.port, daemon).text }
            let golden = try golden("resumed-download")
            #expect(lines == golden, "\n\(lines.joined(separator: "\n"))")

            // The subscriber saw the same, in the same order, each naming its predecessor.
            try await eventually("all were notified") {
                session.events.filter { $0["task_id"]?.integerValue == id && $0["seq"] != nil }.count == recorded.count
            }
            let durable = session.events.filter { $0["seq"] != nil }
            #expect(
                durable.filter { $0["task_id"]?.integerValue == id }.map { $0["seq"] } == recorded.map { $0["seq"] })
            for (previous, next) in zip(durable, durable.dropFirst()) { #expect(next["prev_seq"] == previous["seq"]) }
        }
    }

    /// Paused, resumed, stopped with the daemon and restored, and another one cancelled.
    @Test func aPausedAndARestoredDownloadEmitTheDocumentedEvents() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(112, length: 300_000)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 100_000, until: gate)], [.stall(at: 50_000, until: gate)]])
        // No checkpoint comes by time.
        let options = DaemonFixture.Options(settings: ["download": ["checkpoint_interval": "3600"]])
        try await withDaemon(options) { daemon in
            let id = try await daemon.add(server.url("/f"), ["output": "out.bin"])
            try await daemon.waitForBytes(100_000, of: id)
            // A response is recorded soon after its arrival, not with the next checkpoint.
            try await eventually("its response is recorded") { try await daemon.events(of: id).count == 3 }
            for verb in ["task.pause", "task.resume"] { _ = try await daemon.call(verb, ["ids": [.integer(id)]]) }
            try await daemon.waitForBytes(150_000, of: id)
            try await daemon.stop()
            try await daemon.start()
            try await daemon.complete(id)
            let other = try await daemon.add(server.url("/f"), ["paused": true])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(other)]])
            let recorded = try await daemon.events(of: id) + daemon.events(of: other)
            let lines = recorded.map { normalized($0, port: server.port, daemon).text }
            let golden = try golden("paused-and-restored")
            #expect(lines == golden, "\n\(lines.joined(separator: "\n"))")
        }
        gate.open()
    }

    @Test func progressEventsPrecedeTheTerminalEventAndAreNotDurable() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(111, length: 300_000)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 150_000, until: gate)]])
        try await withDaemon { daemon in
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", [:])
            let id = try await daemon.add(server.url("/f"), ["progress_interval": 0.1])
            let half = try await session.event("half way") {
                $0["type"]?.stringValue == "task.progress" && $0["received"]?.integerValue == 150_000
            }
            #expect(half["seq"] == nil)
            #expect(half["total"]?.integerValue == 300_000)
            gate.open()
            try await daemon.complete(id)
            _ = try await session.event("completed") { $0["type"]?.stringValue == "task.completed" }
            let own = session.events.filter { $0["task_id"]?.integerValue == id }.compactMap { $0["type"]?.stringValue }
            #expect(own.suffix(2) == ["task.progress", "task.completed"], "\(own)")
            let last = session.events.last { $0["type"]?.stringValue == "task.progress" }
            #expect(last?["received"]?.integerValue == 300_000)
        }
    }

    @Test func aDownloadWithoutALengthReportsNoTotalUntilItCompletes() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(113, length: 200_000)
        let gate = Gate()
        server.serve("/f", source, faults: [[.chunked, .stall(at: 100_000, until: gate)]])
        try await withDaemon { daemon in
            let session = try daemon.session()
            _ = try await session.call("events.subscribe", [:])
            let id = try await daemon.add(server.url("/f"), ["progress_interval": 0.1])
            let half = try await session.event("half way") {
                $0["type"]?.stringValue == "task.progress" && $0["received"]?.integerValue == 100_000
            }
            #expect(half["total"] == .null)
            #expect(try await daemon.task(id)["progress"]?["total"] == .null)
            gate.open()
            let view = try await daemon.complete(id)
            #expect(view.received == source.length && view.total == source.length)
            try expectFile(view, is: source)
        }
    }

    private static let types = [
        "task.added", "task.started", "task.redirected", "task.response", "task.waiting", "task.resumed",
        "task.completed", "task.failed",
    ]
}

/// What a file of `Fixtures` holds, line by line.
private func golden(_ name: String) throws -> [String] {
    let tests = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    return try FileTree.text("\(tests)/Fixtures/\(name).ndjson").split(separator: "\n").map(String.init)
}

/// The event without what differs from run to run.
private func normalized(_ value: JSONValue, port: Int, _ daemon: DaemonFixture) -> JSONValue {
    switch value {
    case .object(let object):
        var result = JSONObject()
        for (key, value) in object.members where !["seq", "time", "owner", "task_id", "until"].contains(key) {
            result[key] = key == "message" ? "…" : normalized(value, port: port, daemon)
        }
        return .object(result)
    case .array(let values): return .array(values.map { normalized($0, port: port, daemon) })
    case .string(let text):
        return .string(text.replacing("127.0.0.1:\(port)", with: "HOST").replacing(daemon.downloads, with: "DIR"))
    default: return value
    }
}
