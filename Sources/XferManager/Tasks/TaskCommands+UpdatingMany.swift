public import XferModel
public import XferProtocol
import XferStore

/// Changes of many tasks.
extension TaskCommands {
    /// A change that was made or refused.
    private struct EndedUpdate: Sendable {
        let id: TaskID
        /// The reason why the task was not changed; nil if it was.
        let error: (any Error)?
    }

    /// The number of tasks that are changed at the same time, so that they share commits.
    private static var updatesAtOnce: Int { 32 }

    /// Changes every unfinished task that matches and exists at the call, each by itself. One that cannot be changed is
    /// counted as refused.
    public func update(
        _ filter: TaskQuery, _ changes: TaskChanges, for principal: Principal
    ) async throws -> SelectionResult.Counted {
        try await update(filter, changes, for: principal, in: nil, recording: nil)
    }

    /// Changes the matching tasks of a span; see `StepRecorder`. A step is recorded after its changes: one that is
    /// interrupted in between is repeated, and tasks that match no longer are missing in its counts.
    func update(
        _ filter: TaskQuery, _ changes: TaskChanges, for principal: Principal, in span: TaskSpan?,
        recording record: StepRecorder?
    ) async throws -> SelectionResult.Counted {
        var counts = SelectionResult.Counted()
        try await forEachStep(of: filter, for: principal, in: span) { ids in
            var rest = ids[...]
            while let last = rest.prefix(Self.updatesAtOnce).last {
                guard !isShuttingDown else { throw ManagerError.shuttingDown }
                let step = try Self.counts(of: await update(rest.prefix(Self.updatesAtOnce), changes, for: principal))
                counts.add(step)
                rest = rest.dropFirst(Self.updatesAtOnce)
                guard let record else { continue }
                let recorded = FilterStep(reached: last, step, at: clock())
                let goesOn = try await store.write { tx in try record(tx, recorded) }
                guard goesOn else { throw FilterStep.Stopped() }
            }
        }
        return counts
    }

    private static func counts(of updates: [EndedUpdate]) throws -> SelectionResult.Counted {
        var counts = SelectionResult.Counted()
        for ended in updates {
            guard let error = ended.error else {
                counts.changedCount += 1
                continue
            }
            switch error {
            case ManagerError.notFound: continue
            case ManagerError.invalidState(_, let state, _) where state.isTerminal: counts.unchangedCount += 1
            case ManagerError.storageUnavailable, ManagerError.shuttingDown: throw error
            case let refusal as ManagerError: counts.refuse(ended.id, refusal.failure)
            default: throw error
            }
        }
        return counts
    }

    /// Changes each of these tasks. Returns the outcomes in the order of the ids.
    private func update(
        _ ids: ArraySlice<TaskID>, _ changes: TaskChanges, for principal: Principal
    ) async -> [EndedUpdate] {
        await withTaskGroup(of: EndedUpdate.self) { group in
            for id in ids {
                group.addTask {
                    do {
                        _ = try await update(id, changes, for: principal)
                        return EndedUpdate(id: id, error: nil)
                    } catch {
                        return EndedUpdate(id: id, error: error)
                    }
                }
            }
            var ended: [EndedUpdate] = []
            for await one in group { ended.append(one) }
            return ended.sorted { $0.id < $1.id }
        }
    }
}
