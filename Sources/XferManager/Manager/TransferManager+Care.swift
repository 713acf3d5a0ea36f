import Logging
import XferCore
import XferFiles
import XferModel
import XferStore

/// Clearing up: bytes nobody wants any more, and the past beyond its retention.
extension TransferManager {
    /// Deletes the bytes of those of these transfers that nobody holds, then their rows.
    ///
    /// A transfer on which nothing runs and that no pass could give to a task any more is joined by nobody: what is found
    /// without a task then stays so.
    func discard(_ ids: [TransferID]) {
        guard !ids.isEmpty else { return }
        let earlier = discarding
        discarding = Task {
            await earlier?.value
            await passEnded()
            for id in ids where transfers[id] == nil {
                do {
                    try await discard(id)
                } catch {
                    logger.warning(
                        "bytes could not be deleted; they are at the next start",
                        metadata: ["transfer": "\(id)", "error": "\(error)"])
                }
            }
        }
    }

    /// A publish that a cancel overtook is undone: the final name goes if it is this very file.
    private func discard(_ id: TransferID) async throws {
        let found = try await store.read { reader in
            try reader.isHeld(id)
                ? nil
                : reader.transfer(id).map {
                    (
                        transfer: $0, readyNames: try reader.readyFileNames(of: id),
                        owner: try reader.tasks(subscribingTo: id).first?.owner
                    )
                }
        }
        guard let (transfer, readyNames, owner) = found else { return }
        let partial = transfer.partial
        let name = transfer.partialName
        let guest = owner.flatMap { settings.isOperator($0) ? nil : $0 }
        try await services.pool.run { [rights = services.rights] in
            guard let directory = try Self.directory(of: partial, ofGuest: guest, rights) else { return }
            try directory.remove(name)
            for name in readyNames { try directory.remove(name) }
            if let intent = transfer.publishIntent, try directory.identity(of: intent.finalName) == intent.part {
                try directory.remove(intent.finalName)
            }
        }
        let now = clock()
        let isUpload = try await store.write(.gathered) { tx in
            let cancelled = try tx.tasks(subscribingTo: id).filter { $0.state == .cancelled }
            // The server may have made it after the cancel.
            for task in cancelled { try tx.abandonUpload(of: task, at: now) }
            try tx.deleteTransfer(id)
            return cancelled.contains { $0.specification.kind == .upload }
        }
        if isUpload { abandonUploads() }
    }

    /// Nil when it is gone, or another one. Of a task that was forgotten nobody knows the owner: there it has to be the very
    /// directory that was admitted, up to its device's number, which a reboot may change.
    private static func directory(
        of partial: PartialLocation, ofGuest guest: Owner?, _ rights: OwnerRights
    ) throws(FileError) -> DirectoryHandle? {
        do throws(FileError) {
            let found =
                if let guest {
                    try rights.roots(of: guest).open(directory: partial.directory)
                } else {
                    try DirectoryHandle(ofService: partial.directory)
                }
            let isThere = found.identity == partial.identity
            return isThere || found.identity.inode == partial.identity.inode ? found : nil
        } catch {
            guard case .missing = error else { throw error }
            return nil
        }
    }

    /// Transfers whose task was cancelled, ended or was removed just before a crash. Nobody waits for it: every transfer there
    /// is has to be looked at.
    func discardOrphans() {
        let earlier = discarding
        discarding = Task {
            await earlier?.value
            do {
                try await findOrphans()
            } catch {
                logger.warning("looking for bytes nobody wants failed", metadata: ["error": "\(error)"])
            }
        }
    }

    private func findOrphans() async throws {
        var after: TransferID?
        while !isShuttingDown {
            let page = try await store.read { [after] in try $0.orphanedTransfers(after: after, limit: 500) }
            guard let last = page.last else { return }
            discard(page.map(\.id))
            after = last.id
        }
    }

    /// Trims history, events and kept bytes; at most once a minute, and only when something has ended.
    func takeCare() {
        let now = Clocks.monotonic()
        if let lastCare, lastCare.duration(to: now) < .seconds(60) { return }
        lastCare = now
        Task {
            do {
                try await trim()
            } catch {
                logger.warning("trimming the past failed", metadata: ["error": "\(error)"])
            }
        }
    }

    private func trim() async throws {
        let retention = settings.retention
        let now = clock()
        @Sendable func ago(_ seconds: Int64) -> Timestamp { now.advanced(by: .seconds(-seconds)) }
        var trimmed: Int
        var hasForgottenTasks = false
        repeat {
            trimmed = try await store.write(.bulky) { tx in
                try tx.trimEvents(
                    maxCount: Int64(retention.maxEvents), olderThan: ago(retention.maxEventAge), now: now)
            }
        } while trimmed > 0
        repeat {
            trimmed = try await store.write(.bulky) { tx in
                try tx.trimHistory(
                    maxCount: Int64(retention.maxHistory), olderThan: ago(retention.maxHistoryAge)
                ).count
            }
            hasForgottenTasks = hasForgottenTasks || trimmed > 0
        } while trimmed > 0
        repeat {
            trimmed = try await store.write(.bulky) { try $0.trimBatches(olderThan: ago(retention.maxHistoryAge)) }
        } while trimmed > 0
        if hasForgottenTasks { sweepSpool() }
        try await trimFailedURLs()
        try await services.cache.trim()
        try await trimResults(olderThan: ago(retention.keepResults))
        try await trimSpooledSources(olderThan: ago(retention.keepFailed))
        try await trimFailed(olderThan: ago(retention.keepFailed))
    }

    /// Lets go of the bytes of tasks that failed before then. Read and changed in one transaction: a task may be tried again
    /// meanwhile.
    private func trimFailed(olderThan time: Timestamp) async throws {
        while true {
            let expired = try await store.write(.bulky) { tx in
                let expired = try tx.expiredFailed(olderThan: time, limit: 200)
                for task in expired {
                    var machine = TaskStateMachine(task)
                    machine.unsubscribe()
                    try tx.update(machine.task)
                }
                return expired.compactMap(\.transferID)
            }
            guard !expired.isEmpty else { return }
            discard(expired)
        }
    }
}
