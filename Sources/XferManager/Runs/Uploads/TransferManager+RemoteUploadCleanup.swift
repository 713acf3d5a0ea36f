import Logging
import XferCore
import XferModel
import XferStore

/// Tells servers that a partial upload they keep will not be continued.
///
/// The cancellation commits that this is to be done, so that it survives a crash. It is best effort for a day, and the
/// cancellation does not wait for it.
extension TransferManager {
    struct RemoteUploadCleanup {
        var isWanted = false
        var task: Task<Void, Never>?
        var timer = WakeTimer()
        /// Requests that are live.
        var runs: [Int64: RemoteUploadCleanupRun] = [:]
    }

    /// The highest number of requests at a time.
    private static let maxAbandonments = 4

    /// Sends the requests that are due. A server that cannot be reached is tried again later. Without such uploads
    /// there is no timer.
    func abandonUploads() { abandonUploads(asOf: clock()) }

    private func abandonUploads(asOf now: Timestamp) {
        remoteUploadCleanup.isWanted = true
        guard remoteUploadCleanup.task == nil else { return }
        remoteUploadCleanup.task = Task {
            var now = now
            while remoteUploadCleanup.isWanted, mayAbandon {
                remoteUploadCleanup.isWanted = false
                do {
                    try await abandonDue(now)
                } catch {
                    logger.report("giving up uploads failed", error)
                }
                now = max(now, clock())
            }
            remoteUploadCleanup.task = nil
        }
    }

    private var mayAbandon: Bool { scheduler.holds.isDisjoint(with: [.shuttingDown, .degraded]) }

    private func abandonDue(_ now: Timestamp) async throws {
        var seen: Set<Int64> = []
        while mayAbandon {
            // A run that has not ended yet may still send to the upload. When it ends, it calls `abandonUploads` again.
            let due = try await store.read { try $0.dueAbandonedUploads(now: now, limit: 1000) }
                .filter { !isInUse($0.taskID) && !seen.contains($0.id) }
                .prefix(Self.maxAbandonments)
            if due.isEmpty { break }
            seen.formUnion(due.map(\.id))
            await withDiscardingTaskGroup { group in
                for upload in due { group.addTask { await self.abandon(upload) } }
            }
        }
        guard mayAbandon else { return }
        let next = try await store.read { try $0.nextAbandonedUpload(after: now) }
        remoteUploadCleanup.timer.arm(for: next, now: clock()) { [weak self] target in
            await self?.onRemoteUploadCleanupTimer(target)
        }
    }

    /// `target` counts as now when the wall clock was set back.
    private func onRemoteUploadCleanupTimer(_ target: Timestamp) {
        remoteUploadCleanup.timer.onFired()
        abandonUploads(asOf: max(clock(), target))
    }

    private func abandon(_ upload: AbandonedUpload) async {
        let run = RemoteUploadCleanupRun(upload, services: services, settings: settings)
        remoteUploadCleanup.runs[upload.id] = run
        let answer: Result<ResponseHead, any Error>
        do {
            answer = .success(try await run.run())
        } catch {
            answer = .failure(error)
        }
        remoteUploadCleanup.runs[upload.id] = nil
        // The next start retries a request that the shutdown interrupted.
        if case .failure = answer, isShuttingDown { return }
        do {
            try await settle(upload, answer)
        } catch {
            logger.report(
                "an upload that was given up could not be recorded so", error, ["task": "\(upload.taskID)"])
        }
    }

    private func settle(_ upload: AbandonedUpload, _ answer: Result<ResponseHead, any Error>) async throws {
        let head = try? answer.get()
        let now = clock()
        let decision = RemoteUploadCleanupRules.decide(
            status: head?.status, retryAfter: head.flatMap { ResponseRules.retryAfter($0, now: now) },
            tries: upload.attempts + 1,
            // While the clock was changed, the age of the cancellation is unknown.
            abandonedAt: services.ages.isTrusted ? upload.abandonedAt : now, at: now, using: &random)
        switch decision {
        case .tryAgain(let next):
            try await store.write { try $0.postponeAbandonedUpload(upload.id, until: next) }
        case .giveUp:
            let reason = head.map { "status \($0.status)" } ?? answer.failureText
            logger.notice(
                "a server keeps an upload that was cancelled",
                metadata: ["task": "\(upload.taskID)", "url": "\(upload.url)", "reason": "\(reason)"])
            fallthrough
        case .done:
            try await store.write { try $0.forgetAbandonedUpload(upload.id) }
        }
    }
}

extension Result {
    fileprivate var failureText: String {
        if case .failure(let error) = self { "\(error)" } else { "" }
    }
}
