import XferCore
import XferCurl
public import XferModel
import XferStore

/// Changing tasks.
extension TransferManager {
    /// What a caller wants changed in a task.
    public struct Update: Sendable {
        /// Applied to what was asked for; has no other effect.
        public var change: @Sendable (inout TaskSpecification) -> Void
        /// The first field among the changes that a running task refuses; nil when there is none.
        public var fieldRefusedWhileRunning: String?
        /// What stands before a field's name in errors.
        public var path: String
        /// The field that names the directory, if it changes: `dir` or `output`.
        public var directoryField: String

        public init(
            fieldRefusedWhileRunning: String?, path: String, directoryField: String = "dir",
            change: @escaping @Sendable (inout TaskSpecification) -> Void
        ) {
            self.change = change
            self.fieldRefusedWhileRunning = fieldRefusedWhileRunning
            self.path = path
            self.directoryField = directoryField
        }
    }

    /// Changes an unfinished task; one refused field refuses all. A new rate limit takes effect at once.
    ///
    /// - Throws: `ManagerError`.
    public func update(_ id: TaskID, _ update: Update, for principal: Principal) async throws -> TransferTask {
        let before = try await task(id, for: principal)
        var wanted = before.specification
        update.change(&wanted)
        let hasMoved = wanted.destination != before.specification.destination
        if wanted.request != before.specification.request {
            try await admission(for: principal).requests.check(wanted, path: update.path)
        }
        if hasMoved, wanted.kind != .download {
            throw ManagerError.invalidField(
                path: update.path + update.directoryField, reason: "a \(wanted.kind.rawValue) task publishes no file",
                expected: "the field to be left out")
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
        let (task, orphan) = try await translatingStoreErrors {
            try await store.write { [coalesceKeys] tx in
                try Self.apply(
                    update, to: id, directory: hasMoved ? identity : nil, coalesceKeys, in: tx, for: principal)
            }
        }
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
        schedule()
        return task
    }

    /// The changed task, and the transfer it left behind when its directory changed: bytes do not move between
    /// directories, they are fetched again.
    private static func apply(
        _ update: Update, to id: TaskID, directory: FileIdentity?, _ coalesceKeys: CoalesceKeys,
        in tx: StoreTransaction, for principal: Principal
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
        let hasLeft = machine.task.specification.destination.directory != task.specification.destination.directory
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
