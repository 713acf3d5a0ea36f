import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore
import XferSystem

/// Deletes history, events and bytes beyond their retention.
final class HistoryTrimmer: ManagerPart, Sendable {
    let context: ManagerContext
    private let discarder: TransferDiscarder
    /// The time of the last trim.
    private let last = NIOLockedValueBox(MonotonicInstant?.none)

    init(context: ManagerContext, discarder: TransferDiscarder) {
        self.context = context
        self.discarder = discarder
    }

    /// Trims history, events and kept bytes in the background. It runs at most once a minute, and only after a task has
    /// ended.
    func wake() {
        let now = Clocks.monotonic()
        let isDue = last.withLockedValue { last in
            if let last, last.duration(to: now) < .seconds(60) { return false }
            last = now
            return true
        }
        guard isDue else { return }
        Task {
            do {
                try await trim()
            } catch {
                logger.report("deleting old events and history failed", error)
            }
        }
    }

    func trim() async throws {
        let retention = settings.retention
        // Nil while the wall clock was changed and is not trusted yet. Then only limits of number and size apply.
        let now = services.ages.now
        try await store.write(.gathered) { [services] tx in try services.ages.record(in: tx) }
        @Sendable func ago(_ time: Duration) -> Timestamp {
            now?.advanced(by: .zero - time) ?? Timestamp(microseconds: .min)
        }
        var trimmed: Int
        var hasForgottenTasks = false
        // Events younger than a day are kept, however many there are.
        if let now {
            repeat {
                trimmed = try await store.write(.bulky) { tx in
                    try tx.events.trim(
                        maxCount: Int64(clamping: retention.maxEvents), olderThan: ago(retention.maxEventAge), now: now)
                }
            } while trimmed > 0
        }
        repeat {
            let gone = try await store.write(.bulky) { tx in
                try tx.tasks.trimHistory(
                    maxCount: Int64(clamping: retention.maxHistory), olderThan: ago(retention.maxHistoryAge))
            }
            // Bytes that failed tasks kept for a retry are deleted with the tasks.
            discarder.discard(gone.transfers)
            context.damagedRows.remove(tasks: gone.tasks)
            trimmed = gone.tasks.count
            hasForgottenTasks = hasForgottenTasks || trimmed > 0
        } while trimmed > 0
        if now != nil {
            repeat {
                trimmed = try await store.write(.bulky) { try $0.batches.trim(olderThan: ago(retention.maxHistoryAge)) }
            } while trimmed > 0
            repeat {
                trimmed = try await store.write(.bulky) {
                    try $0.operations.trim(endedBefore: ago(OperationRules.keepEnded))
                }
            } while trimmed > 0
        }
        if hasForgottenTasks { services.sweepSpool() }
        try await trimFailedURLs(at: now)
        try await trimDeliveries(olderThan: ago(DeliveryRules.keepFailed))
        try await services.cache.trim()
        guard now != nil else { return }
        try await trimResults(olderThan: ago(retention.keepResults))
        try await trimSpooledSources(olderThan: ago(retention.keepFailed))
        try await trimFailed(olderThan: ago(retention.keepFailed))
    }

    /// Drops the bytes of tasks that failed before `time`. They are read and changed in one transaction, because a task
    /// may be retried meanwhile.
    private func trimFailed(olderThan time: Timestamp) async throws {
        while true {
            let expired = try await store.write(.bulky) { tx in
                let expired = try tx.tasks.expiredFailed(olderThan: time, limit: 200)
                for task in expired {
                    var machine = TaskStateMachine(task)
                    machine.unsubscribe()
                    try tx.tasks.update(machine.task)
                }
                return expired.compactMap(\.transferID)
            }
            guard !expired.isEmpty else { return }
            discarder.discard(expired)
        }
    }

    /// Removes responses whose retention has ended.
    private func trimResults(olderThan time: Timestamp) async throws {
        while true {
            let files = try await store.write(.bulky) { tx in
                let expired = try tx.results.expired(olderThan: time, limit: 200)
                for (id, _) in expired { try tx.results.remove(of: id) }
                return expired.map(\.file)
            }
            guard !files.isEmpty else { return }
            services.removeSpoolFiles(files.compactMap(\.self))
        }
    }

    /// Removes the spooled sources of failed tasks.
    private func trimSpooledSources(olderThan time: Timestamp) async throws {
        while true {
            let names = try await store.write(.bulky) { tx in
                let expired = try tx.spool.expiredSources(olderThan: time, limit: 200)
                for (id, _) in expired { try tx.spool.removeSources(of: id) }
                return expired.map(\.name)
            }
            guard !names.isEmpty else { return }
            services.removeSpoolFiles(names)
        }
    }

    /// Discards the oldest deliveries of webhooks for which too many wait, and removes failed deliveries that are too
    /// old.
    private func trimDeliveries(olderThan time: Timestamp) async throws {
        let now = clock()
        var name = ""
        while let next = try await store.read({ [name] in try $0.deliveries.webhook(after: name) }) {
            name = next
            let count = try await store.repeating {
                try $0.deliveries.failOldest(of: next, keeping: DeliveryRules.maxPending, at: now)
            }
            guard count > 0 else { continue }
            logger.warning(
                "too many events wait for a webhook; the oldest are discarded",
                metadata: ["webhook": "\(next)", "count": "\(count)", "limit": "\(DeliveryRules.maxPending)"])
        }
        _ = try await store.repeating {
            try $0.deliveries.trimFailed(maxCount: DeliveryRules.maxFailed, olderThan: time)
        }
    }

    /// Removes expired entries, or all of them if the list is turned off.
    func trimFailedURLs(at now: Timestamp?) async throws {
        guard settings.negativeTTL < .seconds(1) || now != nil else { return }
        let times = failedURLs.window(at: now ?? clock())
        _ = try await store.repeating { try $0.failedURLs.trim(keeping: times) }
    }
}
