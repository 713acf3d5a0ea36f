import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
public import XferModel
public import XferProtocol
import XferStore

/// `task.commit`: publishes staged tasks.
///
/// The order is that of every publish: the intent is committed, the file gets its name, the completion is committed.
/// Until then the task is `staged`; after an interruption `settleCommits` determines how far a commit got.
public actor StagedPublishing: ManagerPart {
    nonisolated let context: ManagerContext
    private let discarder: TransferDiscarder
    private let trimmer: HistoryTrimmer
    /// The tasks in `commits`, which the scheduler reads.
    private let beingPublished: NIOLockedValueBox<Set<TaskID>>
    /// Staged tasks that are being published, with the callers that wait for that.
    private var commits: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// The number of calls in progress, including the waiting ones.
    private var callCount = 0
    /// Callers that wait for the end of the last call.
    private var drainWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        context: ManagerContext, discarder: TransferDiscarder, trimmer: HistoryTrimmer,
        beingPublished: NIOLockedValueBox<Set<TaskID>>
    ) {
        self.context = context
        self.discarder = discarder
        self.trimmer = trimmer
        self.beingPublished = beingPublished
    }

    /// Publishes these staged tasks. All of them are checked before the first gets its name, and their completions are
    /// one transaction.
    ///
    /// - Throws: `ManagerError`: `notCommitted` if one of them cannot be published now; it stays staged.
    public func commit(_ ids: [TaskID], for principal: Principal) async throws -> SelectionResult.Listed {
        guard !isShuttingDown else { throw ManagerError.shuttingDown }
        callCount += 1
        defer { endCall() }
        let ids = ids.reduce(into: [TaskID]()) { if !$0.contains($1) { $0.append($1) } }
        // A fixed order, so that two calls never wait for each other.
        for id in ids.sorted() { await beginCommit(id) }
        // A cancellation during a commit leaves the bytes to the commit, so they are checked after it.
        var touched: [TransferID] = []
        defer {
            for id in ids { endCommit(id) }
            discarder.discard(touched)
        }
        return try await translatingStoreErrors { try await publish(ids, for: principal, touching: &touched) }
    }

    /// Publishes every staged task that matches and exists at the call, each by itself. One that cannot be
    /// published stays staged and is counted as refused.
    public func commit(_ filter: TaskQuery, for principal: Principal) async throws -> SelectionResult.Counted {
        try await commit(filter, for: principal, in: nil, recording: nil)
    }

    /// Publishes the staged tasks of a span; see `StepRecorder`. A step is one task, recorded after its commit: one
    /// that is interrupted in between is counted as unchanged when it is repeated.
    func commit(
        _ filter: TaskQuery, for principal: Principal, in span: TaskSpan?, recording record: StepRecorder?
    ) async throws -> SelectionResult.Counted {
        var counts = SelectionResult.Counted()
        try await forEachStep(of: filter, for: principal, in: span) { ids in
            for id in ids {
                var step = SelectionResult.Counted()
                do {
                    step.add(try await commit([id], for: principal))
                } catch let error as ManagerError {
                    guard case .notCommitted = error else { throw error }
                    step.refuse(id, error.failure)
                }
                counts.add(step)
                guard let record else { continue }
                let recorded = FilterStep(reached: id, step, at: clock())
                let goesOn = try await store.write { tx in try record(tx, recorded) }
                guard goesOn else { throw FilterStep.Stopped() }
            }
        }
        return counts
    }

    // MARK: One at a time

    /// Waits until no other call is committing this task.
    private func beginCommit(_ id: TaskID) async {
        while commits[id] != nil {
            await withCheckedContinuation { commits[id, default: []].append($0) }
        }
        commits[id] = []
        beingPublished.withLockedValue { _ = $0.insert(id) }
    }

    private func endCommit(_ id: TaskID) {
        beingPublished.withLockedValue { _ = $0.remove(id) }
        for waiter in commits.removeValue(forKey: id) ?? [] { waiter.resume() }
    }

    private func endCall() {
        callCount -= 1
        guard callCount == 0 else { return }
        for waiter in drainWaiters { waiter.resume() }
        drainWaiters = []
    }

    /// Waits until no call is in progress. After the shutdown has begun, no call begins.
    func ended() async {
        guard callCount > 0 else { return }
        await withCheckedContinuation { drainWaiters.append($0) }
    }

    // MARK: Steps

    private func publish(
        _ ids: [TaskID], for principal: Principal, touching touched: inout [TransferID]
    ) async throws -> SelectionResult.Listed {
        var outcome = SelectionResult.Listed()
        var staged: [StagedFile] = []
        defer { for file in staged { file.file.close() } }
        for id in ids {
            guard let task = try await store.read({ try $0.visibleTask(id, to: principal) }) else {
                outcome.missing.append(id)
                continue
            }
            if let transfer = task.transferID { touched.append(transfer) }
            guard task.state == .staged else {
                outcome.unchanged.append(SelectionResult.Unchanged(id: id, state: task.state))
                continue
            }
            do {
                // An interrupted commit may have been complete.
                if try await settle(id) {
                    outcome.changed.append(id)
                } else {
                    staged.append(try await open(task))
                }
            } catch {
                throw ManagerError(notCommitted: id, error)
            }
        }
        var named: [(file: StagedFile, intent: PublishIntent?)] = []
        var refusal: ManagerError?
        for (file, result) in zip(staged, await publishTogether(staged)) {
            do {
                named.append((file, try result.get()))
            } catch is Overtaken {
                let state = try await store.read { try $0.tasks.find(file.taskID)?.state }
                outcome.unchanged.append(SelectionResult.Unchanged(id: file.taskID, state: state ?? .cancelled))
            } catch let error where !(error is StoreError) {
                // What cannot be determined now is checked by the next commit, or at the next start.
                if (try? await settle(file.taskID)) == true {
                    outcome.changed.append(file.taskID)
                } else {
                    refusal = refusal ?? ManagerError(notCommitted: file.taskID, error)
                }
            }
        }
        let others = try await complete(named)
        for id in named.map(\.file.taskID) {
            if let state = others[id] {
                outcome.unchanged.append(SelectionResult.Unchanged(id: id, state: state))
            } else {
                outcome.changed.append(id)
            }
        }
        if let refusal { throw refusal }
        trimmer.wake()
        return outcome
    }

    /// Opens and checks a staged task's file.
    private func open(_ task: TransferTask) async throws -> StagedFile {
        let (id, transferID) = (task.id, task.transferID)
        let found = try await store.read { reader in
            (
                transfer: try transferID.flatMap { try reader.transfers.find($0) },
                ready: try reader.readyFiles.find(of: id)
            )
        }
        guard let transfer = found.transfer, let ready = found.ready else {
            throw TransferError(.fileMoveFailed, "the database no longer contains the staged file")
        }
        try await services.requireTrusted(
            task, transfer, authoritiesFile: settings.authoritiesFile(of: task.specification.request))
        let directory = try await DestinationDirectory.open(
            transfer.partial, for: task.owner, task.specification.destination.confinement, settings, services)
        var file = try await StagedFile(task, transfer, ready, in: directory, services, settings)
        try await file.requirePublishable(services, settings)
        return file
    }

    /// Gives the files their names; files of one directory are published together. See `StagedFile.publish`.
    ///
    /// The results have the order of the files. Swift 6.3.1 compiles a task group wrongly that returns indices with the
    /// results: with optimisation the indices are others than those of the files.
    private func publishTogether(_ staged: [StagedFile]) async -> [Result<PublishIntent?, any Error>] {
        let attempts = staged.map { file in
            Task { [services, settings] in try await file.publish(services, settings) }
        }
        var results: [Result<PublishIntent?, any Error>] = []
        for attempt in attempts { results.append(await attempt.result) }
        return results
    }

    /// Commits the ends of tasks whose files have the names in their intents, or need no name. Returns the states of
    /// tasks that are no longer staged: a cancellation takes precedence, and the published file is deleted.
    private func complete(_ named: [(file: StagedFile, intent: PublishIntent?)]) async throws -> [TaskID: TaskState] {
        guard !named.isEmpty else { return [:] }
        let (now, failedURLs) = (clock(), failedURLs)
        let files = named.map { file, intent in
            (
                id: file.taskID, transfer: file.transfer.id, length: file.length,
                path: file.directory.path(of: intent?.finalName ?? file.finalName), isSkipped: intent == nil
            )
        }
        return try await store.write { tx in
            var others: [TaskID: TaskState] = [:]
            for file in files {
                let task = try tx.tasks.find(file.id)
                if let task, task.transferID == file.transfer, task.state == .staged {
                    _ = try tx.complete(
                        task, size: file.length, path: file.path, isSkipped: file.isSkipped, failedURLs, at: now)
                } else {
                    others[file.id] = task?.state ?? .cancelled
                }
            }
            if others.count < files.count { try tx.appendIdleIfNothingRuns(at: now) }
            return others
        }
    }

    // MARK: After an interruption

    /// Determines how far commits got that a crash or a storage failure interrupted, and completes or undoes them. A
    /// disk that does not answer delays neither the caller nor tasks on other disks.
    func settleCommits() async throws {
        var settling: [Task<Void, Never>] = []
        var after: TaskID?
        while true {
            let page = try await store.read { [after] in try $0.readyFiles.interruptedCommits(after: after, limit: 500)
            }
            guard let last = page.last else { break }
            for id in page where commits[id] == nil {
                await beginCommit(id)
                settling.append(Task { await settleCommit(of: id) })
            }
            after = last
        }
        _ = try await result(within: PathPools.patience * 2) { [settling] in for task in settling { await task.value } }
    }

    /// Settles a task for which `beginCommit` was called.
    private func settleCommit(of id: TaskID) async {
        let transfer = try? await store.read { try $0.tasks.find(id)?.transferID }
        defer {
            endCommit(id)
            // A cancellation meanwhile has left the bytes to this.
            if let transfer { discarder.discard([transfer]) }
        }
        do {
            _ = try await settle(id)
        } catch {
            // Its disk may not be mounted: a later commit checks again.
            logger.report("the progress of a commit cannot be determined now", error, ["task": "\(id)"])
        }
    }

    /// Completes a staged task whose file has its final name already. Otherwise returns false, and no intent is left.
    private func settle(_ id: TaskID) async throws -> Bool {
        let found = try await store.read { reader in
            let task = try reader.tasks.find(id)
            return (
                task: task, transfer: try task?.transferID.flatMap { try reader.transfers.find($0) },
                ready: try reader.readyFiles.find(of: id)
            )
        }
        guard let task = found.task, let transfer = found.transfer, let intent = transfer.publishIntent else {
            return false
        }
        let directory = try await DestinationDirectory.open(
            transfer.partial, for: task.owner, task.specification.destination.confinement, settings, services)
        let partName = found.ready?.name ?? transfer.partialName
        let isDone = try await services.recover(intent, partName: partName, in: directory) == .done
        let size = found.ready?.facts?.length ?? transfer.resumeData.committedByteCount
        let (now, failedURLs) = (clock(), failedURLs)
        let path = directory.path(of: intent.finalName)
        let (isCompleted, leavesBytes) = try await store.write { tx -> (Bool, Bool) in
            guard let task = try tx.tasks.find(id), task.state == .staged, task.transferID == transfer.id else {
                return (false, false)
            }
            guard isDone else {
                try tx.transfers.setPublishIntent(nil, of: transfer.id)
                try tx.reservations.release(of: id)
                return (false, false)
            }
            let leavesBytes = try tx.complete(
                task, size: size, path: path, isSkipped: false, failedURLs, at: now)
            return (true, leavesBytes)
        }
        if leavesBytes { discarder.discard([transfer.id]) }
        return isCompleted
    }
}
