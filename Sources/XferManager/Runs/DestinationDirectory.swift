import XferFiles
import XferModel
import XferStore

/// Opens the directory of a transfer's bytes, beneath its owner's roots and with the owner's rights.
enum DestinationDirectory {
    /// Opens the directory that was set when the task was added, or throws `destinationUnavailable`.
    ///
    /// - Parameters:
    ///   - owner: the owner of that task.
    ///   - confinement: the directory to which that task is confined.
    static func open(
        _ partial: PartialLocation, for owner: Owner, _ confinement: Confinement?, _ settings: ManagerSettings,
        _ services: RunServices, _ purpose: AllowedRoots.Purpose = .writing
    ) async throws -> DirectoryHandle {
        let path = partial.directory
        do {
            // It was not mounted when the task was added.
            let isNew = partial.identity == .unknown && purpose == .writing
            if isNew { try await admit(path, for: owner, confinement, services) }
            let directory =
                if settings.isOperator(owner) {
                    try await openForOperator(path, beneath: settings.roots(ofOperator: owner, confinement), services)
                } else {
                    try await services.pool(of: owner, forPath: path).run { [rights = services.rights] in
                        try rights.roots(of: owner, confinement).open(directory: path, for: purpose)
                    }
                }
            guard isNew || isAdmitted(directory, as: partial.identity, isOperators: settings.isOperator(owner)) else {
                if let missing = await missingMount(of: path, for: owner, settings, services) { throw missing }
                throw TransferError(
                    .destinationUnavailable,
                    "\(path) is not the directory it was when the task was added: is its disk mounted? If the directory was created again, set the task's directory again"
                )
            }
            return directory
        } catch FileError.missing {
            if let missing = await missingMount(of: path, for: owner, settings, services) { throw missing }
            throw TransferError(
                .destinationUnavailable, "\(path) is gone: restore it or cancel the task")
        }
    }

    /// The error of an operator's directory whose disk is not mounted, which says which one it is; nil if it is mounted.
    private static func missingMount(
        of path: String, for owner: Owner, _ settings: ManagerSettings, _ services: RunServices
    ) async -> TransferError? {
        guard settings.isOperator(owner) else { return nil }
        return await services.admitted.missingMount(of: path, in: settings.roots(ofOperator: owner))?.transferError
    }

    /// Checks and makes the directory as an add does.
    private static func admit(
        _ path: String, for owner: Owner, _ confinement: Confinement?, _ services: RunServices
    ) async throws {
        let rights = services.rights
        let roots =
            if rights.isOperator(owner) {
                rights.roots(of: owner, confinement)
            } else {
                await services.pool(of: owner, forPath: path).run { rights.roots(of: owner, confinement) }
            }
        _ = try await services.admitted.identity(of: path, in: roots)
    }

    /// Opens a transfer's directory with the rights of the owner whose task specified it, because a task may share a
    /// transfer in another owner's directory. If that task has ended, or has a copy of its own, the bytes are still
    /// there for the tasks that share them. Then the directory is opened with the rights of the task that needs it.
    static func open(
        _ transfer: Transfer, for task: TaskSpecification, _ settings: ManagerSettings, _ services: RunServices,
        _ purpose: AllowedRoots.Purpose = .writing
    ) async throws -> DirectoryHandle {
        let (id, path) = (transfer.id, transfer.partial.directory)
        guard task.destination.directory != path else {
            return try await open(
                transfer.partial, for: task.owner, task.destination.confinement, settings, services, purpose)
        }
        if services.incomplete.contains(path) {
            return try await openIncomplete(transfer, for: task.owner, settings, services, purpose)
        }
        let holders = try await services.store.read { try $0.tasks.list(subscribingTo: id) }
        let opener = holders.first { $0.holds(path) }?.specification ?? task
        do {
            return try await open(
                transfer.partial, for: opener.owner, opener.destination.confinement, settings, services, purpose)
        } catch let error as FileError where error.transferError.reason != .outOfDescriptors {
            throw unavailableToOthers
        } catch let error as TransferError where error.reason == .destinationUnavailable {
            throw unavailableToOthers
        }
    }

    /// Opens a directory of `download.incomplete_dir`, and makes it for its first transfer. The transfer records which
    /// directory it is, so that an unmounted disk is not taken for an empty one.
    private static func openIncomplete(
        _ transfer: Transfer, for owner: Owner, _ settings: ManagerSettings, _ services: RunServices,
        _ purpose: AllowedRoots.Purpose
    ) async throws -> DirectoryHandle {
        let (id, path, recorded) = (transfer.id, transfer.partial.directory, transfer.partial.identity)
        let roots = settings.rootsOfIncomplete(path)
        do {
            let isNew = recorded == .unknown && purpose == .writing
            if isNew { _ = try await services.admitted.identity(of: path, in: roots) }
            let directory = try await openForOperator(path, beneath: roots, services)
            if isNew {
                let partial = PartialLocation(directory: path, identity: directory.identity)
                try await services.store.write(.gathered) { try $0.transfers.update(partial: partial, of: id) }
            } else if !isAdmitted(directory, as: recorded, isOperators: true) {
                throw TransferError(
                    .destinationUnavailable,
                    "\(path) (download.incomplete_dir) is not the directory in which the bytes are: is its disk mounted?"
                )
            }
            return directory
        } catch let error as FileError where error.transferError.reason != .outOfDescriptors {
            guard settings.isOperator(owner) else { throw unavailableToOthers }
            throw TransferError(.destinationUnavailable, "download.incomplete_dir: \(error)")
        }
    }

    /// The error for a directory that another owner has changed. It is no fault of this task, so it does not reveal the
    /// path.
    private static var unavailableToOthers: TransferError {
        TransferError(
            .destinationUnavailable,
            "the bytes that are shared with another task are in a directory that cannot be used now")
    }

    /// Returns a closure that opens the directory by its path again, as another process would find it. The closure
    /// blocks.
    static func reopening(
        _ directory: DirectoryHandle, for task: TaskSpecification, _ settings: ManagerSettings,
        _ services: RunServices
    ) -> @Sendable () throws -> DirectoryHandle {
        let (path, owner, confinement) = (directory.path, task.owner, task.destination.confinement)
        guard settings.isOperator(owner) else {
            return { [rights = services.rights] in try rights.roots(of: owner, confinement).open(directory: path) }
        }
        let roots = settings.roots(ofOperator: owner, confinement)
        return { [directories = services.directories] in try directories.reopen(path, beneath: roots) }
    }

    private static func openForOperator(
        _ path: String, beneath roots: AllowedRoots, _ services: RunServices
    ) async throws -> DirectoryHandle {
        let directories = services.directories
        if let justSeen = directories.justSeen(path, beneath: roots) { return justSeen }
        return try await services.paths.open(path) { try directories.open(path, beneath: roots) }
    }

    /// True if the found directory counts as the recorded one. For an operator, the same inode on another device number
    /// is the same directory after a reboot, and another inode on the same device was created again; neither is an
    /// unmounted disk. A guest's directory must be identical, but for the number of a file system that gets another one
    /// with each mount: a new one may contain anything the guest has put there.
    private static func isAdmitted(
        _ directory: DirectoryHandle, as recorded: FileIdentity, isOperators: Bool
    ) -> Bool {
        let found = directory.identity
        if found == recorded || directory.isRemounted(recorded) { return true }
        return isOperators && (found.device == recorded.device || found.inode == recorded.inode)
    }
}

extension TransferTask {
    /// True if the task named this directory and still needs the transfer.
    fileprivate func holds(_ directory: String) -> Bool {
        state != .cancelled && specification.destination.directory == directory
    }
}
