import StrictJSON
import Testing
import XferFiles
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
        #expect(try await manager.store.read { try $0.storedBytes.total(of: guest.owner) } < 40_000)
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
        #expect(try await manager.store.read { try $0.storedBytes.total(of: guest.owner) } == 0)
        let added = try await manager.tasks.add([draft, draft], for: guest)
        await #expect(throws: ManagerError.self) { try await manager.tasks.add([draft], for: guest) }
        _ = try await manager.tasks.apply(.cancel, to: added.map(\.id), for: guest)
        _ = try await manager.tasks.apply(.remove, to: [added[0].id], for: guest)
        _ = try await manager.tasks.add([draft], for: guest)
        await manager.shutdown(.suspend)
    }

    @Test func theCopiesThatTasksSendCountUntilTheyAreSent() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.onAnyOther { _ in Reply(201, text: "") }
        let manager = try await fixture.open(change: { $0.maxStoredPerUser = 40_000 })
        try await manager.start()
        let guest = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        func add(_ length: Int, to manager: TransferManager) async throws -> TaskID {
            let path = fixture.directory.file("source\(length)")
            try FileTree.write([UInt8](repeating: 7, count: length), to: path, mode: 0o644)
            var fields = RequestFields(kind: .upload)
            fields.method = .put
            fields.content = .file(FileReference(path: path, field: "source"))
            let draft = TaskDraft(url: fixture.server.url("/a"), request: fields) { request in
                var specification = TaskSpecification(
                    owner: guest.owner, request: request, destination: .none, kind: .upload, startsPaused: true)
                specification.upload.isSpooled = true
                return specification
            }
            return try await manager.tasks.add([draft], for: guest)[0].id
        }
        let first = try await add(16_000, to: manager)
        await #expect(throws: ManagerError.self) { try await add(24_001, to: manager) }
        // Nothing of the refused one is left.
        try await eventually("one copy is left") { try manager.services.spool.settledNames().count == 1 }
        _ = try await add(24_000, to: manager)
        #expect(try await manager.store.read { try $0.storedBytes.total(of: guest.owner) } == 40_000)
        await #expect(throws: ManagerError.self) { try await add(4096, to: manager) }
        _ = try await manager.tasks.apply(.resume, to: [first], for: guest)
        #expect(try await fixture.end(of: first, in: manager).state == .completed)
        #expect(try await manager.store.read { try $0.storedBytes.total(of: guest.owner) } == 24_000)
        _ = try await add(16_000, to: manager)
        // Another daemon counts as this one.
        await manager.shutdown(.suspend)
        let next = try await fixture.open(change: { $0.maxStoredPerUser = 40_000 })
        try await next.start()
        await #expect(throws: ManagerError.self) { try await add(4096, to: next) }
        await next.shutdown(.suspend)
    }

    /// Copies are made before they are counted: those that are being made count, too.
    @Test func copiesThatAreBeingMadeCountForOtherAdds() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let guest = Principal(owner: Owner(uid: 1001), isOperator: false, roots: ["/"])
        let other = Principal(owner: Owner(uid: 1002), isOperator: false, roots: ["/"])
        func room(of principal: Principal) -> SpoolRoom {
            SpoolRoom(of: principal, maxStored: 100, manager.services)
        }
        var first: SpoolRoom? = room(of: guest)
        let second = room(of: guest)
        try await first?.claim(60)
        try await second.claim(40)
        await #expect(throws: ManagerError.self) { try await second.claim(1) }
        try await room(of: other).claim(100)
        try await room(of: ManagerFixture.caller).claim(.max)
        first = nil
        try await second.claim(60)
        await #expect(throws: ManagerError.self) { try await second.claim(1) }
        await #expect(throws: ManagerError.self) { try await second.claim(.max) }
        await #expect(throws: ManagerError.self) { try await second.claim(1) }
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
        #expect(try await manager.store.read { try $0.tasks.find(last) }?.specification.meta == nil)
        // Less is allowed, and makes room.
        _ = try await manager.tasks.update(ids[0], .changing { $0.meta = .clear }, for: guest)
        _ = try await manager.tasks.update(last, long, for: guest)
        await manager.shutdown(.suspend)
    }
}
