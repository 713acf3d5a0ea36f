import StrictJSON
import Testing
import XferTestSupport

/// Verbs with `background`.
@Suite struct BackgroundOperationTests {
    private static let count = 2500

    /// Adds paused tasks of one group.
    private static func add(to daemon: DaemonFixture) async throws {
        let tasks = (0..<count).map { index in
            JSONValue.object([
                "url": .string("http://127.0.0.1:9/\(index)"), "kind": "data", "paused": true, "group": "many",
            ])
        }
        _ = try await daemon.call("task.add", ["tasks": .array(tasks)])
    }

    private static func ended(_ id: JSONValue, _ daemon: DaemonFixture) async throws -> JSONValue {
        try await eventually("the operation has ended") {
            let operation = try await daemon.call("operation.get", ["id": id])["operation"]
            return operation?["ended_at"] == nil ? nil : operation
        }
    }

    /// Whenever the kill comes, every task is cancelled once.
    @Test func aBackgroundOperationGoesOnAfterAKill() async throws {
        try await withDaemon { daemon in
            try await Self.add(to: daemon)
            let begun = try await daemon.call("task.cancel", ["filter": ["group": "many"], "background": true])
            let id = try #require(begun["operation"])
            #expect(begun["seq"]?.integerValue ?? 0 >= Int64(Self.count))
            await daemon.kill9()
            try await daemon.start()
            let operation = try await Self.ended(id, daemon)
            #expect(operation["state"] == "completed" && operation["verb"] == "cancel")
            #expect(operation["changed_count"] == .integer(Int64(Self.count)), "\(operation)")
            #expect(operation["filter"] == ["group": "many"])
            #expect(try await daemon.events(types: "task.cancelled").count == Self.count)
            let ends = try await daemon.events(types: "operation.ended")
            #expect(ends.count == 1 && ends.first?["operation"] == id && ends.first?["state"] == "completed")
            let list = try await daemon.call("operation.list")["operations"]?.arrayValue
            #expect(list?.map { $0["id"] } == [id])
        }
    }

    @Test func theCommandLineFollowsAVerbOverManyTasksToItsEnd() async throws {
        try await withDaemon { daemon in
            try await Self.add(to: daemon)
            let done = try await daemon.ctl("cancel", "--group", "many")
            #expect(done.exit == .code(0) && done.output == "\(Self.count) cancelled\n", "\(done)")
            let shown = try await daemon.ctl("operation", "show", "1")
            #expect(shown.output.contains("completed: \(Self.count) changed"), "\(shown)")
            let listed = try await daemon.ctl("operation")
            #expect(listed.output.contains("completed") && listed.output.contains("many"), "\(listed)")
            // Of few tasks no operation is made.
            let few = try await daemon.ctl("remove", "--group", "none")
            #expect(few.output.contains("nothing removed"), "\(few)")
            #expect(try await daemon.call("operation.list")["operations"]?.arrayValue?.count == 1)
            let missing = try await daemon.ctl("operation", "cancel", "99")
            #expect(missing.exit == .code(3) && missing.errors.contains("there is no operation 99"), "\(missing)")
        }
    }

    @Test func backgroundNeedsAFilter() async throws {
        try await withDaemon { daemon in
            let refusal = await #expect(throws: RPCRefusal.self) {
                try await daemon.call("task.pause", ["ids": [1], "background": true])
            }
            #expect(refusal?.reason == "conflicting_fields" && refusal?.path == "background")
        }
    }
}
