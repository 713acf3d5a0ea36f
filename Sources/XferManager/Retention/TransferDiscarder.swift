import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Deletes bytes that no task needs any more.
///
/// A transfer without a run, which no scheduling pass can still assign, cannot be joined: if it has no task, that does
/// not change. `RunScheduler.beginDeleting` ensures that from the read of its tasks to the deletion of its row.
final class TransferDiscarder: ManagerPart, Sendable {
    let context: ManagerContext
    private let scheduler: RunScheduler
    private let remoteUploads: RemoteUploadCleanup
    private let state = NIOLockedValueBox(State())

    private struct State {
        /// Transfers that may have no task any more, and whether their published files are to be deleted.
        var unwanted: [TransferID: Bool] = [:]
        /// The last transfer of the previous daemon; up to it, orphans have still to be searched for.
        var lastOrphan: TransferID?
        /// True if the service is shutting down: it then deletes for two seconds, and the next start deletes the rest.
        var isEnding = false
        /// The worker that deletes; nil while there is nothing to delete.
        var task: Task<Void, Never>?
        /// Transfers in directories that did not answer, which the timer makes unwanted again.
        var delayed: [TransferID: Bool] = [:]
        /// The sleep before deletions of `delayed` are tried again; nil while there are none.
        var retry: Task<Void, Never>?

        var hasWork: Bool { lastOrphan != nil || !unwanted.isEmpty && !isEnding }

        mutating func insert(_ ids: [TransferID: Bool]) { unwanted.merge(ids) { $0 || $1 } }
    }

    /// The number of transfers whose rows and files are deleted in one step.
    private static let maxTransfersPerStep = 200
    /// The longest time for which the deletions in one directory may delay those in others.
    private static let patience = Duration.seconds(60)
    /// The time after which deletions on a disk that does not answer are tried again.
    private let pause: Duration

    init(
        context: ManagerContext, scheduler: RunScheduler, remoteUploads: RemoteUploadCleanup,
        pause: Duration = .seconds(30)
    ) {
        self.context = context
        self.scheduler = scheduler
        self.remoteUploads = remoteUploads
        self.pause = pause
    }

    deinit { retry?.cancel() }

    /// The task that waits before deletions on a disk that does not answer are tried again.
    var retry: Task<Void, Never>? { state.withLockedValue(\.retry) }

    /// Deletes the bytes of the transfers that no task needs, then their rows. It does not wait for that.
    ///
    /// - Parameter undoing: true if the task may have been cancelled or removed while the file got its final name. Then
    ///   that file is deleted too, if it is verified to be the published one.
    func discard(_ ids: [TransferID], undoing: Bool = false) {
        guard !ids.isEmpty else { return }
        state.withLockedValue { state in
            state.insert(Dictionary(ids.map { ($0, undoing) }) { first, _ in first })
            start(&state)
        }
    }

    /// Finds transfers whose task was cancelled, ended or was removed just before a crash, and files that no row refers
    /// to. This runs in the background, because every transfer is checked.
    ///
    /// - Parameter last: the last transfer before the first run of this daemon. A run that copies bytes for its task
    ///   creates the transfer first, and moves the task to it when the copy is complete: until then no task uses it.
    func discardOrphans(upTo last: TransferID) {
        state.withLockedValue { state in
            state.lastOrphan = last
            start(&state)
        }
    }

    /// Waits until nothing is being deleted.
    func ended() async {
        while let task = state.withLockedValue(\.task) { await task.value }
    }

    /// Begins no further step; the next start deletes the rest.
    func end() {
        state.withLockedValue { state in
            state.isEnding = true
            state.retry?.cancel()
            state.retry = nil
        }
    }

    /// Ends after the current step.
    func shutdown() async {
        end()
        await ended()
    }

    private func start(_ state: inout State) {
        guard state.task == nil, state.hasWork else { return }
        state.task = Task { await discardAll() }
    }

    private func discardAll() async {
        while true {
            let (lastOrphan, step) = state.withLockedValue { state -> (TransferID?, [TransferID: Bool]) in
                guard state.hasWork else {
                    state.task = nil
                    return (nil, [:])
                }
                let lastOrphan = state.lastOrphan
                state.lastOrphan = nil
                guard !state.isEnding else { return (lastOrphan, [:]) }
                let step = Dictionary(uniqueKeysWithValues: Array(state.unwanted.prefix(Self.maxTransfersPerStep)))
                for id in step.keys { state.unwanted[id] = nil }
                return (lastOrphan, step)
            }
            guard lastOrphan != nil || !step.isEmpty else { return }
            if let lastOrphan { await discardLeftovers(upTo: lastOrphan) }
            if !step.isEmpty { await discard(step) }
        }
    }

    private func discardLeftovers(upTo last: TransferID) async {
        do {
            try await findOrphans(upTo: last)
            try await sweepParts()
        } catch {
            logger.report("the search for unused partial files failed", error)
        }
    }

    private func discard(_ step: [TransferID: Bool]) async {
        let idle = await scheduler.beginDeleting(Set(step.keys))
        do {
            try await discardIdle(step.filter { idle.contains($0.key) })
        } catch {
            logger.report("partial files could not be deleted; the next start tries again", error)
        }
        await scheduler.endDeleting()
    }

    private func findOrphans(upTo last: TransferID) async throws {
        var after: TransferID?
        while !isShuttingDown {
            let page = try await store.read { [after] in
                try $0.transfers.orphans(after: after, upTo: last, limit: 500)
            }
            guard let newest = page.last else { return }
            discard(page.map(\.id))
            after = newest.id
        }
    }

    /// The files of a transfer that are to be deleted.
    private struct Discarded: Sendable {
        let transfer: Transfer
        let readyNames: [String]
        /// True if its task was cancelled, which also undoes a publish.
        let isUndone: Bool
        /// The guest that owns the directory; nil for an operator's or the service's, or if no task is left to name the
        /// owner.
        let guest: Owner?
    }

    /// Deletes the files durably before the rows: a file that reappears after a power failure still has a row.
    private func discardIdle(_ step: [TransferID: Bool]) async throws {
        let found = try await store.read { [settings, incomplete = services.incomplete] reader in
            try step.compactMap { id, undoing -> Discarded? in
                guard try !reader.transfers.isUsed(id), let transfer = try reader.transfers.find(id) else { return nil }
                let tasks = try reader.tasks.list(subscribingTo: id)
                let isUndone =
                    transfer.publishIntent != nil && (undoing || tasks.contains { $0.state == .cancelled })
                let isServices = incomplete.contains(transfer.partial.directory)
                return Discarded(
                    transfer: transfer, readyNames: try reader.readyFiles.names(of: id), isUndone: isUndone,
                    guest: (tasks.first?.owner).flatMap { isServices || settings.isOperator($0) ? nil : $0 })
            }
        }
        await scheduler.narrowDeleting(to: Set(found.map(\.transfer.id)))
        var gone: [TransferID] = []
        for (place, all) in Dictionary(grouping: found, by: Place.init) {
            do {
                try await remove(all, in: place)
                gone += all.map(\.transfer.id)
            } catch FileError.unanswering {
                let ids = Set(all.map(\.transfer.id))
                discardLater(step.filter { ids.contains($0.key) })
            } catch {
                logger.warning(
                    "partial files could not be deleted; the next start tries again",
                    metadata: ["directory": "\(place.partial.directory)", "error": "\(error)"])
            }
        }
        guard !gone.isEmpty else { return }
        let (ids, now) = (gone, clock())
        let isUpload = try await store.write(.gathered) { tx in
            var isUpload = false
            for id in ids {
                let cancelled = try tx.tasks.list(subscribingTo: id).filter { $0.state == .cancelled }
                // The server may have created the upload after the cancellation.
                for task in cancelled { try tx.abandonedUploads.add(of: task, at: now) }
                try tx.transfers.delete(id)
                isUpload = isUpload || cancelled.contains { $0.specification.kind == .upload }
            }
            return isUpload
        }
        if isUpload { remoteUploads.wake() }
    }

    /// Deletes the bytes of these transfers after a pause. Those that are added during a pause share it.
    func discardLater(_ step: [TransferID: Bool]) {
        state.withLockedValue { state in
            guard !state.isEnding else { return }
            state.delayed.merge(step) { $0 || $1 }
            guard state.retry == nil else { return }
            state.retry = Task { [weak self, pause] in
                guard (try? await Task.sleep(for: pause, clock: .continuous)) != nil else { return }
                self?.discardDelayed()
            }
        }
    }

    private func discardDelayed() {
        state.withLockedValue { state in
            guard !state.isEnding else { return }
            state.insert(state.delayed)
            state.delayed = [:]
            state.retry = nil
            start(&state)
        }
    }

    private func remove(_ all: [Discarded], in place: Place) async throws {
        guard let directory = try await open(place) else { return }
        try await services.paths.run(in: directory, within: Self.patience) { isAbandoned in
            try Self.remove(all, in: directory, unless: isAbandoned)
        }
    }

    /// Opens the directory. A path that does not answer delays no other deletion; if it answers later, nothing is
    /// deleted.
    private func open(_ place: Place) async throws -> DirectoryHandle? {
        let rights = services.rights
        guard let guest = place.guest else {
            return try await services.paths.open(place.partial.directory) { try place.open(rights) }
        }
        let pool = services.pool(of: guest, forPath: place.partial.directory)
        // Each attempt would wait behind those that hang.
        guard !pool.isSilent(for: PathPools.patience) else {
            throw FileError.unansweringMount(of: place.partial.directory)
        }
        let opened = try await result(within: PathPools.patience) { try await pool.run { try place.open(rights) } }
        guard let opened else { throw FileError.unansweringMount(of: place.partial.directory) }
        return opened
    }

    /// A directory that is opened once for all deletions in it.
    private struct Place: Hashable, Sendable {
        let partial: PartialLocation
        let guest: Owner?

        init(_ discarded: Discarded) { (partial, guest) = (discarded.transfer.partial, discarded.guest) }

        /// Opens the directory; nil if it is missing or another one. Its inode must be the one that was admitted; its
        /// device number may differ, since a reboot may change that.
        func open(_ rights: OwnerRights) throws(FileError) -> DirectoryHandle? {
            do throws(FileError) {
                let found =
                    if let guest {
                        try rights.roots(of: guest).open(directory: partial.directory)
                    } else {
                        try DirectoryHandle(ofService: partial.directory)
                    }
                let isAdmitted = partial.identity == .unknown || found.identity.inode == partial.identity.inode
                return isAdmitted ? found : nil
            } catch {
                guard case .missing = error else { throw error }
                return nil
            }
        }
    }

    private static func remove(
        _ all: [Discarded], in directory: DirectoryHandle, unless isAbandoned: () -> Bool
    ) throws(FileError) {
        var hasChanged = false
        for discarded in all where !isAbandoned() {
            let transfer = discarded.transfer
            for name in [transfer.partialName, transfer.replacementName] {
                if try directory.remove(name) { hasChanged = true }
            }
            for name in discarded.readyNames where name != transfer.partialName {
                // A hook's copy, and the files the hook made beside it.
                if try directory.remove(beginningWith: name) > 0 { hasChanged = true }
            }
            // Another file with the final name is never deleted, even if it has the same inode number.
            guard discarded.isUndone, let intent = transfer.publishIntent else { continue }
            if try Publisher(directory: directory).isPublished(intent) {
                hasChanged = try directory.remove(intent.finalName) || hasChanged
            }
        }
        if hasChanged { try directory.sync() }
    }

    // MARK: Files without rows

    /// Deletes partial files and hooks' copies of this store that no row names. They remain after a crash, reappear
    /// after a power failure, or were made by a hook beside its copy. Files of other stores have another tag in their
    /// names.
    private func sweepParts() async throws {
        let tag = try await store.read { try $0.transfers.partTag() }
        guard !tag.isEmpty else { return }
        // A partial file is created after its row, so a higher number is not from an earlier daemon.
        let last = try await store.read { try $0.transfers.lastID() }
        let recorded = try await store.read { try SweptDirectories.all(in: $0) }
        var directories = Set(recorded + [settings.downloadDirectory]).union(services.incomplete.all)
        var unswept: Set<String> = []
        var after: TaskID?
        while !isShuttingDown {
            let page = try await store.read { [after] in try $0.tasks.directories(after: after, limit: 2000) }
            directories.formUnion(page.directories)
            guard let newest = page.last else { break }
            after = newest
        }
        for path in directories.sorted() where !isShuttingDown {
            do {
                let isRecorded = recorded.contains(path)
                try await sweepParts(in: path, afterMove: isRecorded, tag: tag, upTo: last)
                if isRecorded { try await store.write { try SweptDirectories.remove([path], in: $0) } }
            } catch {
                unswept.insert(path)
                logger.warning(
                    "a directory could not be swept", metadata: ["directory": "\(path)", "error": "\(error)"])
            }
        }
        if !isShuttingDown { try await services.incomplete.removeUnused(but: unswept, in: store) }
    }

    /// Lists the names with a prefix, with the directory's identity. Returns no names and nil if the directory was
    /// removed, or its disk is not mounted.
    private static func listing(of path: String, _ prefix: String) throws -> ([String], FileIdentity?) {
        do {
            let directory = try DirectoryHandle(ofService: path)
            return (try directory.names(beginningWith: prefix), directory.identity)
        } catch FileError.missing, FileError.notADirectory {
            return ([], nil)
        }
    }

    /// Removes the partial files of a directory that no transfer needs.
    ///
    /// - Parameter afterMove: true if kept bytes were copied from or to the directory, and the move may not have ended.
    private func sweepParts(
        in path: String, afterMove: Bool, tag: String, upTo last: TransferID
    ) async throws {
        let prefix = Transfer.namePrefix(tag)
        let (names, identity) = try await services.paths.open(path) { try Self.listing(of: path, prefix) }
        let strays = try await store.read { reader in
            try names.filter { name in
                guard let id = Transfer.id(inName: name, tag: tag), id <= last else { return false }
                guard let transfer = try reader.transfers.find(id) else { return true }
                // A run may be writing to it. Otherwise the transfer's next run deletes it.
                if name == transfer.replacementName { return false }
                // The same name in another directory is what an interrupted move has left. Path and inode have to
                // differ: a path may be an alias, and a directory may get another number when its disk is mounted
                // again.
                if name == transfer.partialName {
                    let kept = transfer.partial
                    return afterMove && kept.directory != path && kept.identity.inode != identity?.inode
                }
                return try !reader.readyFiles.names(of: id).contains { name.hasPrefix($0) }
            }
        }
        guard !strays.isEmpty else { return }
        logger.notice(
            "files that belong to no transfer were deleted",
            metadata: ["directory": "\(path)", "count": "\(strays.count)"])
        let directory = try await services.paths.open(path) { try DirectoryHandle(ofService: path) }
        try await services.paths.run(in: directory, within: Self.patience) { isAbandoned in
            for name in strays where !isAbandoned() { try directory.remove(name) }
            try directory.sync()
        }
    }
}
