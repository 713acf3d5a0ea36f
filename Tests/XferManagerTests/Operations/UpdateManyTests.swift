import StrictJSON
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// `task.update_many`: the same changes for the tasks of a filter.
struct UpdateManyTests {
    private static let caller = ManagerFixture.caller
    private static let guest = Principal(owner: Owner(uid: 4711), isOperator: false, roots: ["/"], maxPriority: .normal)

    @Test func theUnfinishedTasksThatMatchAreChangedAndTheOthersStay() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        var ids: [TaskID] = []
        for index in 0..<70 {
            ids.append(try await fixture.add("/\(index)", as: "\(index)", to: manager, startsPaused: true))
        }
        _ = try await manager.tasks.apply(.cancel, to: Array(ids.prefix(3)), for: Self.caller)
        let last = try #require(ids.last)
        let query = TaskQuery(ids: Array(ids.dropLast()))
        let changes = TaskChanges.changing { $0.priority = .high }
        let counts = try await manager.tasks.update(query, changes, for: Self.caller)
        #expect(counts.changedCount == 66 && counts.unchangedCount == 3 && counts.refusedCount == nil)
        for id in ids.dropFirst(3).dropLast() {
            #expect(try await manager.queries.task(id, for: Self.caller).specification.priority == .high)
        }
        #expect(try await manager.queries.task(last, for: Self.caller).specification.priority == .normal)
        await manager.shutdown(.suspend)
    }

    @Test func whatIsRefusedForATaskIsCountedWithItsReason() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let foreign = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let own = try await fixture.add("/b", as: "b", to: manager, startsPaused: true, for: Self.guest)
        let changes = TaskChanges.changing { $0.priority = .high }
        let counts = try await manager.tasks.update(TaskQuery(), changes, for: Self.guest)
        #expect(counts.changedCount == 0 && counts.unchangedCount == 0 && counts.refusedCount == 1)
        #expect(counts.refused?.map(\.id) == [own] && counts.refused?.map(\.reason) == ["permission_denied"])
        #expect(try await manager.queries.task(foreign, for: Self.caller).specification.priority == .normal)
        await manager.shutdown(.suspend)
        await #expect(throws: (any Error).self) {
            try await manager.tasks.update(TaskQuery(ids: [own]), changes, for: Self.caller)
        }
    }

    /// What a crash leaves: a row that says how far the steps had come, with the changes and the caller's rights.
    @Test func anUpdateInTheBackgroundGoesOnAfterACrashWithTheRightsOfItsCall() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        var ids: [TaskID] = []
        for index in 0..<40 {
            ids.append(
                try await fixture.add("/\(index)", as: "\(index)", to: manager, startsPaused: true, for: Self.guest))
        }
        let foreign = try await fixture.add("/a", as: "a", to: manager, startsPaused: true)
        let (first, last) = (ids[3], try #require(ids.last))
        let changes = TaskChanges.changing {
            $0.priority = .low
            $0.label = .set("later")
        }
        let interrupted = BulkOperation(
            owner: Self.guest.owner, isOperator: false, verb: .update, filter: TaskFilter.everything.wire.text,
            changes: changes.wire.text,
            rights: Self.guest.operationRights, last: last, reached: first, createdAt: Timestamp(seconds: 0))
        let operation = try await manager.store.write { try $0.operations.insert(interrupted) }
        await manager.shutdown(.suspend)

        manager = try await fixture.open()
        try await manager.start()
        func ended(_ id: OperationID) async throws -> BulkOperation {
            try await eventually("the operation has ended") { [manager] in
                let operation = try await manager.operations.get(id, for: Self.guest)
                return operation.endedAt == nil ? nil : operation
            }
        }
        let done = try await ended(operation.id)
        #expect(done.state == .completed && done.counts.changed == 36 && done.counts.refused == 0)
        func label(_ id: TaskID) async throws -> String? {
            try await manager.queries.task(id, for: Self.caller).specification.label
        }
        var labels: [String?] = []
        for id in [first, ids[4], last, foreign] { labels.append(try await label(id)) }
        #expect(labels == [nil, "later", "later", nil])
        // The guest may not give this priority, in the background neither.
        let refused = try await manager.operations.begin(
            .update, changes: .changing { $0.priority = .high }, .everything, for: Self.guest)
        let end = try await ended(refused.id)
        #expect(end.counts.refused == 40 && end.counts.changed == 0)
        #expect(end.report.refusals.first?.reason == "permission_denied")
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [nil, CallerConfinement.downloads, .directory("/srv/phone")])
    func theRightsOfACallerAreReadBackUnchanged(confinement: CallerConfinement?) {
        var caller = Principal(
            owner: Owner(uid: 7), isOperator: false, groups: [7, 8], roots: ["/a"], maxPriority: .low)
        caller.mayNameLeases = true
        caller.confinement = confinement
        let operation = BulkOperation(
            owner: caller.owner, isOperator: false, verb: .update, filter: "{}", rights: caller.operationRights,
            last: TaskID(1), createdAt: Timestamp(seconds: 0))
        #expect(Principal(of: operation) == caller)
    }
}
