import StrictJSON
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Verbs over filters in the background.
struct OperationTests {
    private static let caller = ManagerFixture.caller
    private static let guest = Principal(owner: Owner(uid: 4711), isOperator: false, roots: ["/"])

    private static func filter(_ states: TaskState...) -> TaskFilter {
        var filter = TaskFilter()
        filter.state = OneOrMany(states)
        return filter
    }

    /// Inserts an operation as an earlier daemon may have left it; no runner is notified.
    private static func insert(
        into manager: TransferManager, _ verb: OperationVerb, _ filter: TaskFilter, of principal: Principal = caller,
        _ change: @escaping @Sendable (inout BulkOperation) -> Void = { _ in }
    ) async throws -> OperationID {
        let text = filter.wire.text
        return try await manager.store.write { tx in
            var operation = try tx.operations.insert(
                BulkOperation(
                    owner: principal.owner, isOperator: principal.isOperator, verb: verb, filter: text,
                    last: try tx.tasks.lastID() ?? TaskID(0), createdAt: Timestamp(seconds: 1)))
            change(&operation)
            try tx.operations.update(operation)
            return operation.id
        }
    }

    private static func ended(
        _ id: OperationID, _ manager: TransferManager, for principal: Principal = caller
    ) async throws -> BulkOperation {
        try await eventually("operation \(id) has ended") {
            let operation = try await manager.operations.get(id, for: principal)
            return operation.endedAt == nil ? nil : operation
        }
    }

    private static func endings(_ manager: TransferManager) async throws -> [Event] {
        let filter = EventFilter(types: [.operationEnded])
        guard case .events(let events, _) = try await manager.queries.events(since: 0, filter, limit: 100) else {
            return []
        }
        return events
    }

    private static func addPaused(
        _ count: Int, to manager: TransferManager, _ fixture: ManagerFixture, for caller: Principal = caller
    ) async throws -> [TaskID] {
        var ids: [TaskID] = []
        for index in 0..<count {
            ids.append(
                try await fixture.add(
                    "/\(index)", as: "\(caller.owner)-\(index)", to: manager, startsPaused: true, for: caller))
        }
        return ids
    }

    @Test func anOperationChangesTheTasksThatExistAtTheCallAndReportsItsEnd() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let ids = try await Self.addPaused(12, to: manager, fixture)
        let begun = try await manager.operations.begin(.cancel, Self.filter(.paused), for: Self.caller)
        #expect(begun.last == ids.last && begun.state == .running && begun.owner == Self.caller.owner)
        let operation = try await Self.ended(begun.id, manager)
        #expect(operation.state == .completed && operation.counts.changed == 12 && operation.counts.unchanged == 0)
        #expect(operation.reached == ids.last && operation.error == nil)
        #expect(try await manager.queries.counts() == [.cancelled: 12])
        let ends = try await Self.endings(manager)
        #expect(
            ends.map(\.payload) == [
                .operationEnded(
                    operation: begun.id, verb: .cancel, state: .completed, changed: 12, unchanged: 0, refused: 0,
                    error: nil)
            ])
        #expect(ends.first?.owner == Self.caller.owner && ends.first?.taskID == nil)
        await manager.shutdown(.suspend)
    }

    /// What a crash leaves: a row that says how far the steps had come.
    @Test func anOperationGoesOnWhereACrashHasInterruptedIt() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        let ids = try await Self.addPaused(10, to: manager, fixture)
        let id = try await Self.insert(into: manager, .cancel, Self.filter(.paused)) { operation in
            operation.reached = ids[3]
            operation.counts.changed = 4
        }
        _ = try await Self.addPaused(1, to: manager, fixture, for: Self.guest)
        await manager.shutdown(.suspend)

        manager = try await fixture.open()
        try await manager.start()
        let operation = try await Self.ended(id, manager)
        #expect(operation.state == .completed && operation.counts.changed == 10)
        // The first four were done before, and what was added later is not meant.
        #expect(try await manager.queries.counts() == [.paused: 5, .cancelled: 6])
        await manager.shutdown(.suspend)
    }

    @Test func theOperationsOfAUserRunInTheOrderOfTheirCalls() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        _ = try await Self.addPaused(3, to: manager, fixture)
        let first = try await manager.operations.begin(.cancel, Self.filter(.paused), for: Self.caller)
        let second = try await manager.operations.begin(.remove, Self.filter(.cancelled), for: Self.caller)
        #expect(try await Self.ended(second.id, manager).counts.changed == 3)
        #expect(try await Self.ended(first.id, manager).counts.changed == 3)
        #expect(try await manager.queries.counts().isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func anOperationThatIsCancelledBeforeItsTurnChangesNothing() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        _ = try await Self.addPaused(3, to: manager, fixture)
        let id = try await Self.insert(into: manager, .cancel, Self.filter(.paused))
        _ = try await manager.operations.cancel(id, for: Self.caller)
        let operation = try await Self.ended(id, manager)
        #expect(operation.state == .cancelled && operation.counts.changed == 0)
        #expect(try await manager.queries.counts() == [.paused: 3])
        // One that has ended stays as it is.
        #expect(try await manager.operations.cancel(id, for: Self.caller) == operation)
        #expect(try await Self.endings(manager).count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func anOperationWhoseFilterCannotBeReadFailsWithoutChanges() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        _ = try await Self.addPaused(2, to: manager, fixture)
        let id = try await manager.store.write { tx in
            try tx.operations.insert(
                BulkOperation(
                    owner: Self.caller.owner, isOperator: true, verb: .cancel, filter: #"{"later": 1}"#,
                    last: TaskID(9), createdAt: Timestamp(seconds: 1))
            ).id
        }
        try await manager.start()
        let operation = try await Self.ended(id, manager)
        #expect(operation.state == .failed && operation.error?.contains("filter") == true)
        #expect(try await manager.queries.counts() == [.paused: 2])
        await manager.shutdown(.suspend)
    }

    @Test func aGuestSeesAndChangesItsOwnOnly() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        _ = try await Self.addPaused(2, to: manager, fixture)
        _ = try await Self.addPaused(3, to: manager, fixture, for: Self.guest)
        let foreign = try await Self.insert(into: manager, .retry, Self.filter(.paused))
        let own = try await manager.operations.begin(.cancel, .everything, for: Self.guest)
        #expect(try await Self.ended(own.id, manager, for: Self.guest).counts.changed == 3)
        #expect(try await manager.queries.counts() == [.paused: 2, .cancelled: 3])
        await #expect(throws: ManagerError.operationNotFound(foreign)) {
            try await manager.operations.get(foreign, for: Self.guest)
        }
        await #expect(throws: ManagerError.operationNotFound(foreign)) {
            try await manager.operations.cancel(foreign, for: Self.guest)
        }
        let seen = try await manager.operations.list(limit: 9, cursor: nil, for: Self.guest)
        #expect(seen.operations.map(\.id) == [own.id])
        let all = try await manager.operations.list(limit: 9, cursor: nil, for: Self.caller)
        #expect(all.operations.map(\.id) == [own.id, foreign])
        await manager.shutdown(.suspend)
    }

    @Test func aUserHasABoundedNumberOfOperations() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        for _ in 0..<OperationRules.mostRunning {
            _ = try await Self.insert(into: manager, .pause, .everything, of: Self.guest)
        }
        await #expect {
            try await manager.operations.begin(.pause, .everything, for: Self.guest)
        } throws: { error in
            guard case ManagerError.limitExceeded(_, OperationRules.mostRunning) = error else { return false }
            return true
        }
        // Others have a number of their own.
        let other = try await manager.operations.begin(.pause, .everything, for: Self.caller)
        #expect(try await Self.ended(other.id, manager).state == .completed)
        await manager.shutdown(.suspend)
        await #expect(throws: ManagerError.shuttingDown) {
            try await manager.operations.begin(.pause, .everything, for: Self.caller)
        }
    }
}
