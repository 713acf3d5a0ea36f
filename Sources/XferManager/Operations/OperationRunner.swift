import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferProtocol
import XferStore

/// Carries out background operations: operations of one user run one after the other, in the order of their calls, and
/// operations of different users concurrently.
///
/// A step and its record are one transaction, so that an operation continues after a crash from its last step.
actor OperationRunner: ManagerPart {
    nonisolated let context: ManagerContext
    private let tasks: TaskCommands
    private let staging: StagedPublishing
    /// The users whose operations are being carried out.
    private var working: Set<Owner> = []
    /// The users for whom an operation was begun since the worker last read the database.
    private var renewed: Set<Owner> = []
    private var endWaiters: [CheckedContinuation<Void, Never>] = []

    init(context: ManagerContext, tasks: TaskCommands, staging: StagedPublishing) {
        self.context = context
        self.tasks = tasks
        self.staging = staging
    }

    /// Continues all operations that have not ended: at the start, and when the database can be written again.
    func wake() async {
        do {
            for owner in try await store.read({ try $0.operations.ownersOfRunning() }) { start(owner) }
        } catch {
            logger.report("background operations could not be read", error)
        }
    }

    /// Goes on with the operations of this user. Call it after a commit that begins or cancels one.
    func start(_ owner: Owner) {
        renewed.insert(owner)
        guard !isShuttingDown, working.insert(owner).inserted else { return }
        Task { await work(for: owner) }
    }

    /// Waits until no step is in progress. After the shutdown has begun, no step begins.
    func ended() async {
        guard !working.isEmpty else { return }
        await withCheckedContinuation { endWaiters.append($0) }
    }

    // MARK: Steps

    private func work(for owner: Owner) async {
        while renewed.remove(owner) != nil {
            do {
                while !isShuttingDown, let operation = try await store.read({ try $0.operations.next(of: owner) }) {
                    guard try await carryOut(operation) else { break }
                }
            } catch {
                logger.report("a background operation could not be continued", error, ["uid": "\(owner)"])
            }
        }
        working.remove(owner)
        guard working.isEmpty else { return }
        for waiter in endWaiters { waiter.resume() }
        endWaiters = []
    }

    /// Returns false if the operation has to wait for the database or the next start.
    private func carryOut(_ operation: BulkOperation) async throws -> Bool {
        guard operation.state == .running else {
            try await end(operation.id, in: operation.state)
            return true
        }
        do {
            try await apply(operation)
            try await end(operation.id, in: .completed)
        } catch is FilterStep.Stopped {
            // The operation was cancelled and is read again, or the service stops.
        } catch  where Self.mayPass(error) {
            return false
        } catch {
            logger.report("a background operation failed", error, ["operation": "\(operation.id)"])
            try await end(operation.id, in: .failed, because: "\(error)")
        }
        return true
    }

    private func apply(_ operation: BulkOperation) async throws {
        guard let filter = operation.taskFilter?.stored else {
            throw StoreError.unreadable(table: "operation", id: operation.id.rawValue, column: "filter")
        }
        let principal = Principal(of: operation)
        let span = TaskSpan(after: operation.reached, last: operation.last)
        let record = recorder(of: operation.id)
        switch operation.verb {
        case .pause: try await apply(.pause, filter, principal, span, record)
        case .resume: try await apply(.resume, filter, principal, span, record)
        case .cancel: try await apply(.cancel, filter, principal, span, record)
        case .retry: try await apply(.retry, filter, principal, span, record)
        case .remove where operation.deletesFiles:
            _ = try await tasks.removeWithFiles(filter, for: principal, in: span, recording: record)
        case .remove: try await apply(.remove, filter, principal, span, record)
        case .update:
            guard let changes = operation.taskChanges else {
                throw StoreError.unreadable(table: "operation", id: operation.id.rawValue, column: "changes")
            }
            _ = try await tasks.update(filter, changes, for: principal, in: span, recording: record)
        case .commit: _ = try await staging.commit(filter, for: principal, in: span, recording: record)
        }
    }

    private func apply(
        _ verb: TaskVerb, _ filter: TaskQuery, _ principal: Principal, _ span: TaskSpan,
        _ record: @escaping StepRecorder
    ) async throws {
        _ = try await tasks.apply(verb, to: filter, for: principal, in: span, recording: record)
    }

    private func recorder(of id: OperationID) -> StepRecorder {
        { [context] tx, step in
            guard var operation = try tx.operations.find(id) else { return false }
            operation.reached = max(operation.reached, step.reached)
            operation.counts.add(step.counts)
            operation.report.add(step.report)
            if OperationRules.isReportDue(lastAt: operation.reportedAt, now: step.time) {
                operation.reportedAt = step.time
                try tx.events.append(
                    .operationProgress(
                        operation: id, verb: operation.verb, changed: operation.counts.changed,
                        unchanged: operation.counts.unchanged, reached: operation.reached, last: operation.last),
                    owner: operation.owner, at: step.time)
            }
            try tx.operations.update(operation)
            return operation.state == .running && !context.isShuttingDown.withLockedValue(\.self)
        }
    }

    private func end(_ id: OperationID, in state: OperationState, because error: String? = nil) async throws {
        let now = clock()
        try await store.write { tx in
            guard var operation = try tx.operations.find(id), operation.endedAt == nil else { return }
            operation.state = state
            operation.error = error
            operation.endedAt = now
            try tx.operations.update(operation)
            let counts = operation.counts
            try tx.events.append(
                .operationEnded(
                    operation: id, verb: operation.verb, state: state, changed: counts.changed,
                    unchanged: counts.unchanged, refused: counts.refused, error: error),
                owner: operation.owner, at: now)
            try tx.operations.trim(of: operation.owner, keeping: OperationRules.mostEnded)
        }
    }

    /// True if the operation can go on later: the service stops, or the database cannot be written for now.
    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case ManagerError.shuttingDown, ManagerError.storageUnavailable, StoreError.degraded, StoreError.closed: true
        default: false
        }
    }
}
