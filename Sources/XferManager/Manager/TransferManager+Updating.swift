import XferCore
import XferCurl
public import XferModel
import XferStore

/// Changing tasks.
extension TransferManager {
    /// Changes that a caller requests for a task.
    public struct Update: Sendable {
        /// Applied to the specification; has no other effect.
        public var change: @Sendable (inout TaskSpecification) -> Void
        /// The first changed field that a running task refuses; nil if there is none.
        public var fieldRefusedWhileRunning: String?
        /// The prefix of field names in errors.
        public var path: String
        /// The field that names the directory, if it changes: `dir` or `output`.
        public var directoryField: String
        /// Whether the request names a directory, even the same one: a guest's is then checked again.
        public var namesDirectory: Bool

        public init(
            fieldRefusedWhileRunning: String?, path: String, directoryField: String = "dir",
            namesDirectory: Bool = false,
            change: @escaping @Sendable (inout TaskSpecification) -> Void
        ) {
            self.change = change
            self.fieldRefusedWhileRunning = fieldRefusedWhileRunning
            self.path = path
            self.directoryField = directoryField
            self.namesDirectory = namesDirectory
        }
    }

    /// Changes an unfinished task. One refused field refuses all changes. A new rate limit takes effect at once.
    ///
    /// - Throws: `ManagerError`.
    public func update(_ id: TaskID, _ update: Update, for principal: Principal) async throws -> TransferTask {
        let before = try await task(id, for: principal)
        var wanted = before.specification
        update.change(&wanted)
        let isNamedAnew =
            update.namesDirectory && before.state != .staged && wanted.kind == .download
            && !settings.isOperator(before.owner)
        let hasMoved = isNamedAnew || wanted.destination != before.specification.destination
        if wanted.request != before.specification.request {
            try await admission(for: principal).requests.check(wanted, path: update.path)
        }
        if wanted.kind != .download {
            let hasSegments = wanted.segments != before.specification.segments
            guard !hasMoved, !hasSegments else {
                throw ManagerError.invalidField(
                    path: update.path + (hasMoved ? update.directoryField : "segments"),
                    reason: "a \(wanted.kind.rawValue) task publishes no file", expected: "the field to be left out")
            }
        }
        if wanted.schedule.window != before.specification.schedule.window {
            try await admission(for: principal).checkWindow(wanted.schedule.window, path: update.path)
        }
        if wanted.policy != before.specification.policy {
            try admission(for: principal).checkTrust(wanted, path: update.path)
        }
        if hasMoved || wanted.priority != before.specification.priority {
            let admission = admission(for: principal)
            var directories: [String: FileIdentity] = [:]
            try await admission.admit(
                &wanted, knowing: &directories, path: update.path, directoryField: update.directoryField)
        }
        let identity = wanted.destination.directoryIdentity
        let (now, zones) = (clock(), zones)
        let (task, orphan, effect) = try await translatingStoreErrors {
            try await store.write { [coalesceKeys] tx in
                let schedule = try tx.task(id)?.specification.schedule
                let (task, orphan) = try Self.apply(
                    update, to: id, directory: hasMoved ? identity : nil, coalesceKeys, in: tx, for: principal, at: now)
                guard let schedule, schedule != task.specification.schedule else {
                    return (task, orphan, nil as Effect?)
                }
                var machine = TaskStateMachine(task)
                let effect = try Self.reschedule(
                    &machine, from: schedule, for: principal, path: update.path, zones, in: tx, at: now)
                return (machine.task, orphan, effect)
            }
        }
        if let effect { await perform([effect]) }
        if let orphan { discard([orphan]) }
        scheduler.onRegroup(id, group: task.group)
        let (rates, earlier) = (task.specification, before.specification)
        if rates.maxReceiveRate != earlier.maxReceiveRate || rates.maxSendRate != earlier.maxSendRate {
            if let live = runs[id] {
                await live.run.setMaxRates(receive: rates.maxReceiveRate, send: rates.maxSendRate)
            } else if isScheduling {
                ratesBeforeLaunch[id] = (receive: rates.maxReceiveRate, send: rates.maxSendRate)
            }
        }
        await keepOffMetered(task)
        schedule()
        return task
    }

    /// A staged file is whole, so the fields for fetching it and for its directory can no longer change.
    private static func refuse(
        _ wanted: TaskSpecification, insteadOf task: TransferTask, path: String
    ) throws {
        let had = task.specification
        guard
            wanted.request == had.request, wanted.checksum == had.checksum, wanted.policy == had.policy,
            wanted.destination.directory == had.destination.directory, wanted.segments == had.segments
        else {
            throw ManagerError.invalidState(
                task.id, task.state,
                reason: "\(path)output within its directory and \(path)on_conflict can change, and what is no part of "
                    + "fetching it")
        }
    }

    /// Returns the changed task, and the transfer it left if its directory changed. Bytes do not move between
    /// directories; they are fetched again.
    private static func apply(
        _ update: Update, to id: TaskID, directory: FileIdentity?, _ coalesceKeys: CoalesceKeys,
        in tx: StoreTransaction, for principal: Principal, at now: Timestamp
    ) throws -> (TransferTask, TransferID?) {
        guard let task = try tx.visibleTask(id, to: principal) else { throw ManagerError.notFound(id) }
        guard !task.state.isTerminal else {
            throw ManagerError.invalidState(id, task.state, reason: "a finished task cannot be changed")
        }
        if task.state == .running, let field = update.fieldRefusedWhileRunning {
            throw ManagerError.invalidState(
                id, task.state, reason: "\(update.path)\(field) cannot change while the task runs: pause it first")
        }
        var machine = TaskStateMachine(task)
        machine.respecify(update.change)
        if task.state == .staged { try refuse(machine.task.specification, insteadOf: task, path: update.path) }
        if machine.task.specification.request.allowsMetered, !task.specification.request.allowsMetered,
            task.wait?.reason == .network
        {
            _ = machine.onWaitOver(at: now)
        }
        if machine.task.specification.policy != task.specification.policy {
            try requirePolicy(of: machine.task.specification, in: tx)
        }
        let hasLeftOthers = try coalesceKeys.renew(&machine, in: tx)
        guard let directory, !hasLeftOthers else {
            if let directory { machine.respecify { $0.destination.directoryIdentity = directory } }
            try tx.update(machine.task)
            return (machine.task, hasLeftOthers ? task.transferID : nil)
        }
        machine.respecify { $0.destination.directoryIdentity = directory }
        let (wanted, had) = (machine.task.specification.destination, task.specification.destination)
        let isAnother = update.namesDirectory && wanted.directoryIdentity != had.directoryIdentity
        let hasLeft = wanted.directory != had.directory || isAnother
        guard hasLeft, let transfer = task.transferID else {
            try tx.update(machine.task)
            return (machine.task, nil)
        }
        machine.unsubscribe()
        machine.onBytesLost()
        try tx.update(machine.task)
        return (machine.task, transfer)
    }
}
