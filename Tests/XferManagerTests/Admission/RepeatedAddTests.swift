import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// Adds with a `client_key`, and what adds answer.
@Suite struct RepeatedAddTests {
    private func draft(
        of url: String, in directory: String, key: String?, requestText: String?,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) -> TaskDraft {
        TaskDraft(url: url, clientKey: key, requestText: requestText) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: directory, name: "file"), startsPaused: true, clientKey: key)
            change(&specification)
            return specification
        }
    }

    @Test func aRepeatedAddIsAnsweredEvenIfItWouldBeRefusedNow() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let directory = "\(fixture.downloads)/gone"
        let url = fixture.server.url("/a")
        func add(requestText: String) async throws -> (task: TransferTask, isExisting: Bool) {
            try await manager.tasks.add(
                draft(of: url, in: directory, key: "k", requestText: requestText), for: ManagerFixture.caller)
        }
        let first = try await add(requestText: "this")
        #expect(!first.isExisting)
        // What has a file's name cannot become a directory.
        #expect(rmdir(directory) == 0)
        try FileTree.write("", to: directory, mode: 0o600)
        let again = try await add(requestText: "this")
        #expect(again.isExisting && again.task.id == first.task.id)
        await #expect(throws: ManagerError.self) { try await add(requestText: "that") }
        #expect(unlink(directory) == 0)
        await #expect(throws: ManagerError.keyReused(existing: first.task.id)) { try await add(requestText: "that") }
        await manager.shutdown(.suspend)
    }

    @Test func aKeyThatTwoTasksOfACallHaveIsRefusedByItsPlace() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let (url, downloads) = (fixture.server.url("/a"), fixture.downloads)
        let drafts = [("a", "1"), ("b", "2"), ("a", "3")].map {
            draft(of: url, in: downloads, key: $0, requestText: $1)
        }
        await #expect(throws: ManagerError.keyRepeated(path: "tasks[2].client_key", earlier: "tasks[0]")) {
            _ = try await manager.tasks.add(drafts, for: ManagerFixture.caller, path: { "tasks[\($0)]." })
        }
        let first = try await manager.tasks.add([drafts[0]], for: ManagerFixture.caller, path: { "tasks[\($0)]." })
        await #expect(throws: ManagerError.keyReused(existing: first[0].id, path: "tasks[1].client_key")) {
            _ = try await manager.tasks.add(
                [drafts[1], drafts[2]], for: ManagerFixture.caller, path: { "tasks[\($0)]." })
        }
        await manager.shutdown(.suspend)
    }

    @Test func aRepeatedAddOfSeveralTasksIsRecognisedOnlyAsAWhole() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let (url, downloads) = (fixture.server.url("/a"), fixture.downloads)
        func add(_ keys: [String?]) async throws -> [AddedTask] {
            try await manager.tasks.add(
                keys.map { draft(of: url, in: downloads, key: $0, requestText: $0) }, for: ManagerFixture.caller)
        }
        let first = try await add(["a", "b"])
        #expect(first.map(\.isExisting) == [false, false])
        let again = try await add(["a", "b"])
        #expect(again.map(\.isExisting) == [true, true] && again.map(\.id) == first.map(\.id))
        let mixed = try await add(["b", "c", nil])
        #expect(mixed.map(\.isExisting) == [true, false, false] && mixed[0].id == first[1].id)
        await manager.shutdown(.suspend)
    }

    /// The manager makes the answer of what it inserted, and does not read the row again.
    @Test func aRepeatedAddIsAnsweredWithTheStoredRow() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let changes: [@Sendable (inout TaskSpecification) -> Void] = [
            { _ in }, { $0.group = "g" }, { $0.slot = "s" }, { $0.slot = "s" }, { $0.label = "é" },
            {
                $0.request.headers = [HeaderField(name: "A", value: "\"b\\\"")]
                $0.request.acceptedTypes = ["text/*"]
                $0.maxReceiveRate = 5
            },
            { $0.schedule.notBefore = Timestamp(seconds: 4_000_000_000) },
            {
                $0.startsPaused = false
                $0.schedule.notBefore = Timestamp(seconds: 4_000_000_000)
            },
        ]
        for change in changes {
            let added = try await manager.tasks.add(
                draft(of: fixture.server.url("/a"), in: fixture.downloads, key: nil, requestText: nil, change),
                for: ManagerFixture.caller)
            #expect(try await manager.queries.task(added.task.id, for: ManagerFixture.caller) == added.task)
        }
        await manager.shutdown(.suspend)
    }
}
