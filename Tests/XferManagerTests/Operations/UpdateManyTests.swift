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
}
