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
                ? nil : reader.transfer(id).map { (transfer: $0, readyNames: try reader.readyFileNames(of: id)) }
        }
        guard let (transfer, readyNames) = found else { return }
        let partial = transfer.partial
        let name = transfer.partialName
        try await services.pool.run {
            let directory: DirectoryHandle
            do {
                directory = try DirectoryHandle(ofService: partial.directory)
            } catch FileError.missing {
                return
            }
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

    func trim() async throws {
        let retention = settings.retention
        // Nil while the wall clock was changed and is not trusted yet: then only what is too much goes.
        let now = services.ages.now
        try await store.write(.gathered) { [services] tx in try services.ages.record(in: tx) }
        @Sendable func ago(_ seconds: Int64) -> Timestamp {
            now?.advanced(by: .seconds(-seconds)) ?? Timestamp(microseconds: .min)
        }
        var trimmed: Int
        var hasForgottenTasks = false
        // No event goes that may be younger than a day, however many there are.
        if let now {
            repeat {
                trimmed = try await store.write(.bulky) { tx in
                    try tx.trimEvents(
                        maxCount: Int64(retention.maxEvents), olderThan: ago(retention.maxEventAge), now: now)
                }
            } while trimmed > 0
        }
        repeat {
            trimmed = try await store.write(.bulky) { tx in
                try tx.trimHistory(
                    maxCount: Int64(retention.maxHistory), olderThan: ago(retention.maxHistoryAge)
                ).count
            }
            hasForgottenTasks = hasForgottenTasks || trimmed > 0
        } while trimmed > 0
        if now != nil {
            repeat {
                trimmed = try await store.write(.bulky) { try $0.trimBatches(olderThan: ago(retention.maxHistoryAge)) }
            } while trimmed > 0
        }
        if hasForgottenTasks { sweepSpool() }
        try await trimFailedURLs(at: now)
        try await services.cache.trim()
        guard now != nil else { return }
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
