import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// A staged file that is about to be published.
struct StagedFile: Sendable {
    let task: TransferTask
    let transfer: Transfer
    let ready: ReadyFile
    let directory: DirectoryHandle
    let file: PartialFile
    let length: Int64
    /// True if another file has the name, and the policy is to keep that file.
    private var isSkipped = false
    /// The policy under which it gets its name: the task's, or what `on_conflict: continue` comes to here.
    private var policy: ConflictPolicy

    var taskID: TaskID { task.id }

    var finalName: String { task.specification.destination.name ?? ready.finalName }

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
        policy = task.specification.destination.onConflict
        do {
            file = try await services.pool(in: directory).run { try PartialFile.open(in: directory, named: ready.name) }
        } catch FileError.missing {
            throw FileError.publishLost(path: directory.path(of: ready.name))
        }
        length = try file.length()
        try await requireSame(services, settings)
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

    /// Throws if the file cannot get its name by the present content of the directory, before another file of the same
    /// call has got its own.
    mutating func requirePublishable(_ services: RunServices, _ settings: ManagerSettings) async throws {
        let (directory, name, specification) = (directory, finalName, task.specification)
        if specification.destination.onConflict == .continue {
            let received = ready.isProcessed ? nil : file
            policy = try await services.paths.digests(in: directory).run { () throws(FileError) in
                try ContinuedFile(
                    named: name, continuedBy: received, for: specification, in: directory, isCancelled: { false }
                ).policy
            }
        }
        let choice = try await services.pool(in: directory).run { [policy] in
            try Publisher(directory: directory).chooseName(for: name, policy: policy)
        }
        switch choice {
        case .skip:
            isSkipped = true
            try await requireSkippable(services)
        case .publish(let name, true):
            try await ReplacingRules.requireReplaceable(name, in: directory, by: task.specification, services, settings)
        case .publish: break
        }
    }

    /// Throws if the file that keeps the name does not have the demanded digest.
    private func requireSkippable(_ services: RunServices) async throws {
        try await ExistingFile(
            name: finalName, directory: directory, specification: task.specification, services: services
        ).requireDemandedDigest()
    }

    /// Publishes the file.
    ///
    /// - Returns: the committed intent, whose file has the name; nil if another file has the name and is kept.
    /// - Throws: `Overtaken` if the task is no longer staged; `StoreError`; else the reason why the file has no name,
    ///   or may have it.
    func publish(_ services: RunServices, _ settings: ManagerSettings) async throws -> PublishIntent? {
        guard !isSkipped else { return nil }
        let (id, transferID, directoryID) = (task.id, transfer.id, directory.identity)
        let published = PublishingFile(
            content: .part(file), name: finalName, policy: policy, digest: ready.digest,
            place: PublishingPlace(directory, of: task.specification, settings, services),
            isLeaseInForce: { [leases = services.leases, lease = task.specification.schedule.lease] in
                leases.isInForce(lease)
            })
        let outcome = await services.publishing.publish(published, in: directory) { tx, intent, isReplacing in
            guard let task = try StoreError.nilIfUnreadable({ try tx.tasks.find(id) }), task.state == .staged,
                task.transferID == transferID
            else { throw Overtaken() }
            guard try isReplacing || tx.reservations.reserve(intent.finalName, in: directoryID, by: id) else {
                return false
            }
            try tx.transfers.setPublishIntent(intent, of: transferID)
            return true
        }
        switch outcome {
        case .published(let intent): return intent
        case .skipped, .stopped:
            try await requireSkippable(services)
            return nil
        case .failed(FileError.cancelled):
            throw TransferError(.fileMoveFailed, "its lease has ended: another daemon may have the task")
        case .failed(let error), .uncertain(let error): throw error
        }
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
        let leavesBytes = try isSkipped || publishedFiles.record(task, from: transfer, size: size)
        try reservations.release(of: task.id)
        machine.unsubscribe()
        try write(machine, transition, at: now)
        try failedURLs.record(machine.task, in: self, at: now)
        if !leavesBytes { try transfers.delete(transfer) }
        return leavesBytes
    }
}
