import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Publishes a staged file step by step. Between the steps `StagedPublishing` commits the next one.
struct StagedFile: Sendable {
    let task: TransferTask
    let transfer: Transfer
    let ready: ReadyFile
    let directory: DirectoryHandle
    let file: PartialFile
    let length: Int64
    /// The file's metadata, once it is known to be the staged file.
    private var facts: FileFacts
    /// Names that another task or program has taken since this began.
    private var taken: Set<String> = []
    /// The final name; set by `choose`.
    private(set) var choice: Publisher.NameChoice = .skip

    var taskID: TaskID { task.id }

    var finalName: String { task.specification.destination.name ?? ready.finalName }

    var intent: PublishIntent? {
        guard case .publish(let name, _) = choice else { return nil }
        return PublishIntent(finalName: name, part: facts, digest: ready.digest)
    }

    var isReplacing: Bool {
        guard case .publish(_, let isReplacing) = choice else { return false }
        return isReplacing
    }

    /// Opens the file and checks that it is the staged one.
    ///
    /// - Throws: `TransferError`, `FileError`: the file cannot be published now.
    init(
        _ task: TransferTask, _ transfer: Transfer, _ ready: ReadyFile, in directory: DirectoryHandle,
        _ services: RunServices, _ settings: ManagerSettings
    ) async throws {
        self.task = task
        self.transfer = transfer
        self.ready = ready
        self.directory = directory
        do {
            file = try await services.pool(in: directory).run { try PartialFile.open(in: directory, named: ready.name) }
        } catch FileError.missing {
            throw FileError.publishLost(path: directory.path(of: ready.name))
        }
        length = try file.length()
        facts = try file.facts()
        try await requireSame(services, settings)
        facts = try await services.pool(in: directory).run { [file] () throws(FileError) in try file.facts() }
    }

    /// Compares the length first, then the other metadata. If metadata differs, the digest decides.
    private func requireSame(_ services: RunServices, _ settings: ManagerSettings) async throws {
        guard let facts = ready.facts else { throw FileError.publishLost(path: file.path) }
        guard length == facts.length else {
            throw FileError.lengthMismatch(path: file.path, expected: facts.length, found: length)
        }
        guard try !file.facts().isSame(as: facts) else { return }
        let (file, length) = (file, length)
        guard let digest = ready.digest else {
            throw TransferError(.checksumMismatch, "\(file.path) was changed since it was staged")
        }
        let found = try await services.paths.digests(in: directory).run {
            try FileDigest.compute(file, algorithm: digest.algorithm, length: length)
        }
        guard found == digest else {
            throw TransferError(
                .checksumMismatch,
                "\(file.path) was changed since it was staged: it had \(digest.description), it has \(found.description)"
            )
        }
        let mode = task.specification.destination.mode
        let attributes = Publisher.Attributes(
            length: length, mode: mode?.bits ?? settings.fileMode, yieldsToDirectory: mode == nil)
        try await services.pool(in: directory).run {
            try Publisher(directory: file.directory).prepare(file, attributes)
        }
    }

    /// Chooses the final name by the current contents of the directory.
    mutating func choose(_ services: RunServices, _ settings: ManagerSettings) async throws {
        let (directory, name, policy) = (directory, finalName, task.specification.destination.onConflict)
        let taken = taken
        choice = try await services.pool(in: directory).run {
            try Publisher(directory: directory).chooseName(for: name, policy: policy, isReserved: taken.contains)
        }
        guard case .publish(let name, true) = choice else {
            if choice == .skip {
                try await ExistingFile(
                    name: name, directory: directory, specification: task.specification, services: services
                ).requireDemandedDigest()
            }
            return
        }
        try await ReplacingRules.requireReplaceable(name, in: directory, by: task.specification, services, settings)
    }

    /// Excludes a name that was taken meanwhile from the next choice.
    mutating func onNameTaken() {
        if let intent { taken.insert(intent.finalName) }
    }

    /// Renames the file as the committed intent says; false if the name was taken meanwhile.
    func rename(_ services: RunServices, _ settings: ManagerSettings) async throws -> Bool {
        guard let intent else { return true }
        let (directory, file, name, isReplacing) = (directory, file, ready.name, isReplacing)
        let reopen = DestinationDirectory.reopening(directory, for: task.specification, settings, services)
        let (leases, lease) = (services.leases, task.specification.schedule.lease)
        let outcome = try await services.pool(of: task.owner, in: directory).run {
            guard leases.isInForce(lease) else {
                throw TransferError(.fileMoveFailed, "its lease is over: another daemon may have the task")
            }
            try DirectoryPath.requireLeading(to: directory, for: intent.finalName, reopen)
            return try Publisher(directory: directory).rename(name, as: intent, isReplacing: isReplacing)
        }
        guard outcome == .published else { return false }
        try await services.durability.sync(directory)
        try await services.pool(of: task.owner, in: directory).run {
            let publisher = Publisher(directory: directory)
            do {
                try DirectoryPath.requireLeading(to: directory, for: intent.finalName, reopen)
                try publisher.requirePublished(intent)
                file.handOver()
            } catch {
                if !isReplacing { try publisher.withdraw(intent, to: name) }
                throw error
            }
        }
        return true
    }
}

extension StoreTransaction {
    /// Completes a staged task whose file has its name, or needs none. Returns whether its transfer's bytes are to be
    /// deleted.
    func complete(
        _ task: TransferTask, size: Int64, path: String, isSkipped: Bool, _ failedURLs: FailedURLList,
        at now: Timestamp
    ) throws -> Bool {
        guard let transfer = task.transferID else { return false }
        var machine = TaskStateMachine(task)
        machine.setOutcome { outcome in
            outcome.finalPath = path
            outcome.skipped = isSkipped
        }
        let transition = machine.onCommit(size: size, at: now)
        let leavesBytes = try isSkipped || recordPublished(task, from: transfer, size: size)
        try releaseReservations(of: task.id)
        machine.unsubscribe()
        try write(machine, transition, at: now)
        try failedURLs.record(machine.task, in: self, at: now)
        if !leavesBytes { try deleteTransfer(transfer) }
        return leavesBytes
    }
}
