import XferCore
import XferModel
import XferStore

/// The list of failed URLs within one transaction, under the current settings.
struct FailedURLList: Sendable {
    let digest: KeyedDigest
    let isSharedBetweenOwners: Bool
    /// In seconds; 0 turns the list off.
    let timeToLive: Int64

    /// Whether it may refuse any task.
    func hasEntries(in tx: StoreTransaction) throws -> Bool { try timeToLive > 0 && tx.hasFailedURLs() }

    /// Why a new task is not to be tried; nil if it may be.
    func refusal(
        of specification: TaskSpecification, in tx: StoreTransaction, at now: Timestamp
    ) throws -> TransferError? {
        guard let times = window(at: now), try tx.hasFailedURLs(), let key = key(of: specification),
            let entry = try tx.failedURL(key: key.bytes, within: times)
        else { return nil }
        return FailedURLRules.refusal(
            of: specification.request, because: entry,
            until: entry.failedAt.advanced(by: .seconds(timeToLive)))
    }

    /// Records how a run ended, in the transaction that commits the end.
    func record(_ task: TransferTask, in tx: StoreTransaction, at now: Timestamp) throws {
        switch task.state {
        case .failed:
            guard timeToLive > 0, let error = task.error, FailedURLRules.lists(error),
                let key = key(of: task.specification),
                let urlDigest = CoalesceKey.digest(of: task.specification.request.url, digest)
            else { return }
            try tx.insertFailedURL(
                key: key.bytes, urlDigest: urlDigest, of: task, error: error, maxCount: FailedURLRules.largestCount,
                at: now)
        case .completed:
            guard FailedURLRules.isRefuted(by: task.outcome), try tx.hasFailedURLs(),
                let key = key(of: task.specification)
            else { return }
            try tx.removeFailedURL(key: key.bytes)
        case .queued, .waiting, .running, .paused, .staged, .cancelled:
            return
        }
    }

    func window(at now: Timestamp) -> ClosedRange<Timestamp>? {
        FailedURLRules.window(timeToLive: timeToLive, at: now)
    }

    private func key(of specification: TaskSpecification) -> CoalesceKey? {
        CoalesceKey(specification, isSharedBetweenOwners: isSharedBetweenOwners, digest: digest)
    }
}
