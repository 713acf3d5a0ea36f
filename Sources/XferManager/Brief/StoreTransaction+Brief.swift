import XferCore
import XferFiles
import XferModel
import XferStore

/// The commits of brief runs.
extension StoreTransaction {
    /// True if the task's row is unchanged since the run began.
    func isQueued(_ picked: TransferTask) throws(StoreError) -> Bool {
        guard let task = try tasks.find(picked.id) else { return false }
        return task.state == .queued && task.transferID == nil && task.requestsSame(as: picked)
    }

    /// Commits the start of a brief run: an ordinary run continues it. Nil if the row has changed.
    func recordBriefStart(
        _ brief: BriefRun, _ settings: ManagerSettings, at now: Timestamp
    ) throws -> SchedulingPass.Start? {
        guard try isQueued(brief.task), let task = try tasks.find(brief.task.id) else { return nil }
        let partial = settings.placeOfPart(of: task.specification)
        let transfer = try transfers.insert(partial: partial, at: brief.startedAt)
        var machine = TaskStateMachine(task)
        let transition = machine.onStart(at: brief.startedAt)
        machine.subscribe(to: transfer.id)
        try write(machine, transition, from: task, at: now)
        try settleTurns()
        return SchedulingPass.Start(
            task: machine.task, transfer: transfer, isNew: true, descriptors: brief.descriptors)
    }

    /// Commits that tasks ran from their start to their end.
    func recordBriefEnds(
        _ ends: [(body: BriefBody, path: String)], _ failedURLs: FailedURLList, at now: Timestamp
    ) throws {
        var events: [EventSeries] = []
        events.reserveCapacity(ends.count)
        for (body, path) in ends {
            let size = Int64(clamping: body.bytes.count)
            guard let task = try tasks.find(body.task.id), task.state == .queued, task.transferID == nil else {
                throw Overtaken()
            }
            var machine = TaskStateMachine(task)
            let start = machine.onStart(at: body.startedAt)
            machine.setOutcome { outcome in
                outcome = body.outcome
                outcome.finalPath = path
            }
            machine.onCheckpoint(received: size, total: size, at: now)
            let end = machine.onComplete(size: size, at: now)
            try tasks.update(machine.task, from: task)
            try failedURLs.record(machine.task, in: self, at: now)
            let response = EventPayload.taskResponse(
                status: body.head.status, total: size, etag: body.head.etag, resumed: false)
            let payloads = [start.event, response, end.event].compactMap(\.self)
            events.append(EventSeries(payloads, taskID: task.id, owner: task.owner))
        }
        try self.events.append(events, at: now)
        try briefIntents.recordPublished(ends.map(\.body.task.id))
        try settleTurns()
        try appendIdleIfNothingRuns(at: now)
    }

    /// Gives a task whose file may have its name already a transfer with the intent, so that the task's next run
    /// determines this, and ends the task or fetches the file again.
    func adoptBriefIntent(_ intent: PublishIntent, of id: TaskID, at now: Timestamp) throws {
        guard let task = try tasks.find(id), task.state == .queued, task.transferID == nil else { return }
        let destination = task.specification.destination
        let partial = PartialLocation(
            directory: destination.directory, identity: destination.directoryIdentity ?? .unknown)
        // Without segments: the file had no name before, so that nothing is lost if it has none now.
        try transfers.setPublishIntent(intent, of: try subscribeToNewTransfer(task, partial: partial, at: now))
    }

    /// Gives each of these tasks a transfer, with its intent if one was committed. With that, the round that publishes
    /// them can commit nothing more for them. Tasks that have ended stay as they are.
    func leaveBriefRound(of ids: [TaskID], _ settings: ManagerSettings, at now: Timestamp) throws {
        let intents = try Dictionary(briefIntents.all().map { ($0.task, $0.intent) }) { first, _ in first }
        for id in ids {
            if let intent = intents[id] {
                try adoptBriefIntent(intent, of: id, at: now)
            } else if let task = try tasks.find(id), task.state == .queued, task.transferID == nil {
                _ = try subscribeToNewTransfer(task, partial: settings.placeOfPart(of: task.specification), at: now)
            }
        }
        try briefIntents.remove(of: ids)
    }

    private func subscribeToNewTransfer(
        _ task: TransferTask, partial: PartialLocation, at now: Timestamp
    ) throws -> TransferID {
        let transfer = try transfers.insert(partial: partial, at: now)
        var machine = TaskStateMachine(task)
        machine.subscribe(to: transfer.id)
        try tasks.update(machine.task, from: task)
        return transfer.id
    }
}
