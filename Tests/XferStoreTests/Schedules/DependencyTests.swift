import Testing
import XferModel

@testable import XferStore

/// Which tasks wait for which, and what the store remembers of removed targets.
struct DependencyTests {
    private static func dependent(on targets: [TaskID], in tx: StoreTransaction) throws -> TaskID {
        var specification = specification()
        specification.schedule.after = targets
        let id = try tx.tasks.insert(specification, state: .waiting, wait: Wait(.dependency), at: noon).id
        try tx.dependencies.set(of: id, on: targets)
        return id
    }

    @Test(arguments: [TaskState.completed, .failed, .cancelled]) func anEndIsRecordedForWaitingDependents(
        end: TaskState
    )
        async throws
    {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(3)
                let dependent = try Self.dependent(on: [ids[0], ids[1]], in: tx)
                #expect(try tx.dependencies.state(of: dependent) == DependencyState(openCount: 2))
                // No task waits for the third.
                try tx.setState(end, of: ids[2])
                #expect(try tx.dependencies.nextEndedTarget() == nil)
                try tx.setState(end, of: ids[0])
                #expect(try tx.dependencies.nextEndedTarget() == EndedTarget(id: ids[0], outcome: end))
                #expect(try tx.dependencies.openDependents(of: ids[0], limit: 9) == [dependent])
                try tx.dependencies.settle(of: dependent, on: ids[0], end)
                #expect(try tx.dependencies.openDependents(of: ids[0], limit: 9).isEmpty)
                try tx.dependencies.removeEndedTarget(ids[0])
                #expect(try tx.dependencies.nextEndedTarget() == nil)
                let standing = try tx.dependencies.state(of: dependent)
                #expect(standing.openCount == 1)
                #expect(standing.failed == (end == .completed ? nil : EndedTarget(id: ids[0], outcome: end)))
            }
        }
    }

    @Test func aGroupCountsWithItsUnfinishedTasksAndABatchWithAllButTheCompletedOnes() async throws {
        try await withStore { store in
            try await store.write { tx in
                let batch = try tx.batches.insert(owner: Owner(uid: 1000), maxActive: 3, at: noon)
                let specification = specification(group: batch.group)
                let members = try (0..<4).map { _ in
                    try tx.tasks.insert(specification, state: .queued, batch: batch.id, at: noon).id
                }
                try tx.setState(.completed, of: members[0])
                try tx.setState(.failed, of: members[1])
                let other = try tx.add(1)[0]
                let dependents = try (0..<2).map { _ in try Self.dependent(on: [other], in: tx) }
                try tx.dependencies.add(of: dependents[0], onMembersOf: batch.id)
                let ofBatch = try tx.dependencies.state(of: dependents[0])
                #expect(ofBatch.openCount == 3 && ofBatch.failed == EndedTarget(id: members[1], outcome: .failed))
                let group = GroupKey(owner: specification.owner, name: batch.group)
                try tx.dependencies.add(of: dependents[1], onTasksOf: group)
                #expect(try tx.dependencies.state(of: dependents[1]) == DependencyState(openCount: 3))
                // A member that waits for its own group waits for the others.
                try tx.dependencies.add(of: members[2], onTasksOf: group)
                #expect(try tx.dependencies.unmetTargets(of: members[2]) == [members[3]])
                try tx.dependencies.add(of: other, onTasksOf: GroupKey(owner: Owner(uid: 4711), name: batch.group))
                #expect(try !tx.dependencies.hasOpenTargets(other))
            }
        }
    }

    @Test func aTaskHasOpenTargetsUntilTheLastHasEnded() async throws {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(4)
                try tx.setState(.completed, of: ids[3])
                let dependent = try Self.dependent(on: ids, in: tx)
                #expect(try tx.dependencies.unmetTargets(of: dependent) == Array(ids.prefix(3)))
                for id in ids.prefix(3) {
                    #expect(try tx.dependencies.hasOpenTargets(dependent))
                    try tx.dependencies.settle(of: dependent, on: id, .completed)
                }
                #expect(try !tx.dependencies.hasOpenTargets(dependent))
                #expect(try !tx.dependencies.hasOpenTargets(ids[0]))
                #expect(try tx.tasks.existing(ids + [TaskID(999)], of: nil) == Set(ids))
                #expect(try tx.tasks.existing(ids, of: Owner(uid: 4711)).isEmpty)
            }
        }
    }

    /// An add after a target that has ended is no race: the target's outcome counts.
    @Test func targetsThatEndedBeforeTheAddCount() async throws {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(3)
                try tx.setState(.completed, of: ids[0])
                try tx.setState(.cancelled, of: ids[1])
                let dependent = try Self.dependent(on: ids, in: tx)
                #expect(
                    try tx.dependencies.state(of: dependent)
                        == DependencyState(openCount: 1, failed: EndedTarget(id: ids[1], outcome: .cancelled)))
                #expect(try tx.dependencies.unmetTargets(of: dependent) == [ids[1], ids[2]])
            }
        }
    }

    @Test func theOutcomeOutlivesTheTarget() async throws {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(2)
                let dependent = try Self.dependent(on: ids, in: tx)
                try tx.setState(.completed, of: ids[0])
                try tx.setState(.failed, of: ids[1])
                // The dependent has the first target's outcome; the second target's row is deleted before it has.
                try tx.dependencies.settle(of: dependent, on: ids[0], .completed)
                for id in ids { try tx.tasks.delete(id) }
                #expect(try tx.dependencies.nextEndedTarget()?.id == ids[0])
                try tx.dependencies.renew(of: dependent)
                #expect(try tx.dependencies.state(of: dependent).failed == EndedTarget(id: ids[1], outcome: .failed))
                #expect(try tx.dependencies.state(of: dependent).openCount == 0)
            }
        }
    }

    /// A retried task evaluates its targets again, since they may have been retried, too.
    @Test func aRetriedDependentEvaluatesItsTargetsAgain() async throws {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(1)
                let dependent = try Self.dependent(on: ids, in: tx)
                try tx.setState(.failed, of: ids[0])
                try tx.dependencies.settle(of: dependent, on: ids[0], .failed)
                try tx.setState(.failed, of: dependent)
                try tx.setState(.queued, of: ids[0])
                try tx.setState(.queued, of: dependent)
                #expect(try tx.dependencies.state(of: dependent) == DependencyState(openCount: 1))
                // Its conditions are due at once.
                #expect(try tx.conditions.due(now: noon, limit: 9).map(\.id) == [dependent])
            }
        }
    }

    @Test func theTargetsOfADependentAreForgottenWithIt() async throws {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(1)
                let dependent = try Self.dependent(on: ids, in: tx)
                try tx.conditions.set(of: dependent, due: noon)
                try tx.setState(.cancelled, of: dependent)
                #expect(try tx.conditions.earliest() == nil)
                try tx.tasks.delete(dependent)
                try tx.setState(.completed, of: ids[0])
                #expect(try tx.dependencies.nextEndedTarget() == nil)
            }
        }
    }

    @Test func conditionsAreListedInTheOrderOfTheirTimes() async throws {
        try await withStore { store in
            try await store.write { tx in
                let ids = try tx.add(3)
                for (index, id) in ids.enumerated() {
                    try tx.conditions.set(of: id, due: noon.advanced(by: .seconds(-index)))
                }
                #expect(try tx.conditions.due(now: noon, limit: 2).map(\.id) == [ids[2], ids[1]])
                #expect(try tx.conditions.earliest() == noon.advanced(by: .seconds(-2)))
                try tx.conditions.set(of: ids[2], due: noon.advanced(by: .seconds(9)))
                try tx.conditions.set(of: ids[1], due: nil)
                #expect(try tx.conditions.due(now: noon, limit: 9).map(\.id) == [ids[0]])
                #expect(try tx.conditions.tasks(after: ids[0], limit: 9).map(\.id) == [ids[2]])
            }
        }
    }
}
