import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// What is kept for the tasks of a user who is no operator is limited.
@Suite struct StoredQuotaTests {
    @Test func anAddBeyondWhatAUserMayKeepIsRefusedUntilTasksAreRemoved() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.maxStoredPerUser = 40_000 })
        try await manager.start()
        let guest = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let other = Principal(owner: Owner(uid: 1002), isOperator: false, roots: ["/"])
        func add(_ name: String, for caller: Principal) async throws -> TaskID {
            try await fixture.add("/a", as: name, to: manager, startsPaused: true, for: caller) {
                $0.meta = "\"" + String(repeating: "m", count: 16_000) + "\""
            }
        }
        let first = try await add("a", for: guest)
        _ = try await add("b", for: guest)
        do {
            _ = try await add("c", for: guest)
            Issue.record("accepted")
        } catch ManagerError.limitExceeded(let reason, let limit) {
            #expect(limit == 40_000 && reason.contains("access.max_stored"), "\(reason)")
        }
        // Nothing of the refused one is left, and others have a limit of their own.
        #expect(try await manager.store.read { try $0.storedBytes(of: guest.owner) } < 40_000)
        _ = try await add("d", for: other)
        for name in ["e", "f", "g"] { _ = try await add(name, for: ManagerFixture.caller) }
        _ = try await manager.tasks.apply(.cancel, to: [first], for: guest)
        _ = try await manager.tasks.apply(.remove, to: [first], for: guest)
        _ = try await add("c", for: guest)
        await manager.shutdown(.suspend)
    }

    @Test func theContentsThatTasksSendCountUntilTheyAreRemoved() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.maxStoredPerUser = 40_000 })
        try await manager.start()
        let guest = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        var fields = RequestFields(kind: .data)
        // Base64 makes 16,000 bytes of it: two fit.
        fields.content = .bytes(InlineBytes([UInt8](repeating: 7, count: 12_000)))
        let draft = TaskDraft(url: fixture.server.url("/a"), request: fields) { request in
            TaskSpecification(
                owner: guest.owner, request: request, destination: .none, kind: .data, startsPaused: true)
        }
        // Of a call's tasks none stays.
        await #expect(throws: ManagerError.self) {
            try await manager.tasks.add([draft, draft, draft], for: guest)
        }
        #expect(try await manager.store.read { try $0.storedBytes(of: guest.owner) } == 0)
        let added = try await manager.tasks.add([draft, draft], for: guest)
        await #expect(throws: ManagerError.self) { try await manager.tasks.add([draft], for: guest) }
        _ = try await manager.tasks.apply(.cancel, to: added.map(\.id), for: guest)
        _ = try await manager.tasks.apply(.remove, to: [added[0].id], for: guest)
        _ = try await manager.tasks.add([draft], for: guest)
        await manager.shutdown(.suspend)
    }

    @Test func aMetaThatATaskGetsLaterCountsAgainstTheLimit() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.maxStoredPerUser = 40_000 })
        try await manager.start()
        let guest = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let long = TaskChanges.changing { $0.meta = .set(.string(String(repeating: "m", count: 16_000))) }
        var ids: [TaskID] = []
        for name in ["a", "b", "c"] {
            ids.append(try await fixture.add("/a", as: name, to: manager, startsPaused: true, for: guest))
        }
        _ = try await manager.tasks.update(ids[0], long, for: guest)
        _ = try await manager.tasks.update(ids[1], long, for: guest)
        let last = ids[2]
        await #expect(throws: ManagerError.self) { try await manager.tasks.update(last, long, for: guest) }
        #expect(try await manager.store.read { try $0.task(last) }?.specification.meta == nil)
        // Less is allowed, and makes room.
        _ = try await manager.tasks.update(ids[0], .changing { $0.meta = .clear }, for: guest)
        _ = try await manager.tasks.update(last, long, for: guest)
        await manager.shutdown(.suspend)
    }
}
