import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// One task from `running` to its next state. There is one kind of run for each way to transfer bytes.
///
/// A run commits the state that a restart needs before it acts. It commits facts and offsets itself; `RunScheduler`
/// commits the task's next state.
protocol TaskRun: AttemptMaker {
    var facts: RunState { get set }
    /// The kept part of the response. It is committed with the task's end.
    var keptResponse: KeptResponse? { get }
    /// True if a later attempt can continue from this run, so that the transfer is kept when the task fails.
    var isResumable: Bool { get }

    /// True if the next attempt should use a new transfer.
    var leavesTransfer: Bool { get }

    /// The transfer whose claims to disk space end with the run; nil if the run has none.
    var claimant: TransferID? { get }

    /// Requests the run to stop at the next safe point.
    func stop() async

    /// Sets the limits in bytes per second; 0 is unlimited. Takes effect at once.
    func setMaxRates(receive: Int64, send: Int64) async

    /// Runs to the end. A thrown error is also an end of the run.
    func run() async throws -> RunEnd
}

extension TaskRun {
    var transfer: Transfer {
        get { facts.transfer }
        set { facts.transfer = newValue }
    }
    var outcome: TaskOutcome {
        get { facts.outcome }
        set { facts.outcome = newValue }
    }
    var attemptState: AttemptState {
        get { facts.attemptState }
        set { facts.attemptState = newValue }
    }

    var keptResponse: KeptResponse? { nil }
    var claimant: TransferID? { transfer.id }
    var leavesTransfer: Bool { false }

    func stop() async {
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }
    var isResumable: Bool { control.progress.received > 0 }

    /// Runs to the end and converts every thrown error to a value.
    func execute() async -> RunResult {
        let end: RunEnd
        var isPartLost = false
        do {
            end = try await run()
        } catch FileError.cancelled {
            end = .stopped
        } catch let error as FileError {
            isPartLost = error.isOfLostPart
            end = .failed(error.transferError.explainedByDescriptors)
        } catch let error as TransferError {
            end = .failed(error.explainedByDescriptors)
        } catch is StoreError {
            // When descriptors run out, SQLite cannot open another reader; the storage itself may be sound.
            end =
                Descriptors.areScarce
                ? .failed(TransferError(.internalError, "the database cannot be read").explainedByDescriptors)
                : .storageFailed
        } catch is Overtaken {
            end = .overtaken
        } catch {
            end = .failed(TransferError(.internalError, "\(error)").explainedByDescriptors)
        }
        if let claimant { services.space.withLockedValue { $0.remove(claimant) } }
        outcome.lastAttempt = control.trace ?? outcome.lastAttempt
        // `commitEventsSoon` must not commit them, too.
        let events = pendingEvents
        pendingEvents = []
        return RunResult(
            end: end, transferID: transfer.id, outcome: outcome, leavesTransfer: leavesTransfer,
            pendingEvents: events,
            keptResponse: keptResponse,
            requestWasSent: attemptState.requestWasSent, isResumable: isResumable, isPartLost: isPartLost,
            progress: control.progress)
    }
}

extension FileError {
    /// True if the partial file was lost or changed, so that neither its bytes nor an intent to publish it are valid.
    fileprivate var isOfLostPart: Bool {
        switch self {
        case .partChanged, .publishLost: true
        default: false
        }
    }
}

/// The error of a run that no longer owns its task's row and must stop.
struct Overtaken: Error, CustomStringConvertible {
    var description: String { "the task no longer belongs to this run" }
}

extension TaskRun {
    /// Commits a change of this run together with the pending events, if the task still belongs to this run. The events
    /// of a task that has ended meanwhile are not appended; the data for the clean-up is still written.
    ///
    /// - Throws: `Overtaken`, `StoreError`, and the errors of `change`.
    func commit<Answer: Sendable>(
        _ urgency: Urgency,
        _ change: @escaping @Sendable (StoreTransaction, inout TaskStateMachine) throws -> Answer
    ) async throws -> Answer {
        let id = taskID
        let transferID = transfer.id
        let events = pendingEvents
        let facts = outcome
        let now = services.clock()
        pendingEvents = []
        return try await services.store.write(urgency) { tx in
            guard let task = try tx.tasks.find(id), task.transferID == transferID else { throw Overtaken() }
            if !task.state.isTerminal {
                for event in events { try tx.events.append(event, taskID: id, owner: task.owner, at: now) }
            }
            var machine = TaskStateMachine(task)
            machine.setOutcome { $0 = facts }
            let answer = try change(tx, &machine)
            try tx.tasks.update(machine.task, from: task)
            return answer
        }
    }
}

extension TaskRun {
    /// The delay after which the event of a response's head is committed while its body arrives. Most bodies are
    /// complete within this time, and then the run commits the event with its end.
    func commitEventsSoon() {
        Task {
            try? await Task.sleep(for: .milliseconds(100), clock: .continuous)
            await commitEventsWhileReceiving()
        }
    }

    /// Commits events while bytes are received. The steps after the last byte commit the events themselves.
    private func commitEventsWhileReceiving() async {
        guard !pendingEvents.isEmpty, control.progress.phase == .transferring, !control.isStopRequested else { return }
        do {
            try await commit(.gathered) { _, _ in }
        } catch is Overtaken {
            // The run finds out by itself.
        } catch {
            services.logger.report("the head of a response could not be recorded", error, ["task": "\(taskID)"])
        }
    }
}

/// The cache lookup that runs share.
extension TaskRun {
    /// Decides by the task's cache policy how kept responses are used.
    ///
    /// - Throws: `onlyIfCachedMiss` instead of returning `miss`.
    func consultCache() async throws -> CacheDecision<CacheLease> {
        let decision = try await services.cache.decide(for: specification, heldTo: trust)
        if case .miss = decision {
            throw TransferError(
                .onlyIfCachedMiss,
                "no usable response of \(specification.request.url) is cached, and the task may not make a request",
                host: specification.request.url.hostKey)
        }
        return decision
    }

    /// The event `cache.hit` with the response's current age.
    func hit(_ response: StoredResponse) -> EventPayload {
        let freshness = Freshness(of: response, at: services.clock())
        return .cacheHit(age: freshness.age?.components.seconds, fresh: freshness.isFresh)
    }

    /// True if the task has reported a kept response but not yet the result of its revalidation.
    func owesNotification() async throws -> Bool {
        guard specification.request.caching.policy == .revalidate else { return false }
        let id = taskID
        let events = try await services.store.read {
            try $0.events.list(since: 0, types: [.cacheHit, .taskRefreshed, .taskNotModified], taskIDs: [id], limit: 2)
        }
        return events.map(\.type) == [.cacheHit]
    }

    /// Reports a kept response, with the content for `task.result`, before the request is sent. A task that is retried
    /// reports it only once.
    func reportCacheHit(_ response: StoredResponse, _ kept: KeptResponse? = nil) async throws {
        let (event, id, now) = (hit(response), taskID, services.clock())
        try await commit(.immediate) { tx, machine in
            guard machine.task.state == .running else { throw Overtaken() }
            guard try tx.events.list(since: 0, types: [.cacheHit], taskIDs: [id], limit: 1).isEmpty else { return }
            try tx.events.append(event, taskID: id, owner: machine.task.owner, at: now)
            if let kept { try tx.results.set(kept.result, of: id, at: now) }
        }
        withExtendedLifetime(kept) {}
    }
}
