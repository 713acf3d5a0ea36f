import NIOConcurrencyHelpers
import XferCore
import XferCurl
public import XferModel
import XferStore

/// `failed_url.*`: an owner sees and removes its own entries; an operator all owners'.
public struct FailedURLCommands: ManagerPart, Sendable {
    let context: ManagerContext

    /// The entries to remove.
    public enum Selection: Sendable {
        case ids([FailedURLID])
        /// All entries about this URL, as a client writes it.
        case url(String)
    }

    /// Returns one page of the entries in force, and for how many seconds each still is.
    public func list(
        ascending: Bool, limit: Int, cursor: String?, for principal: Principal
    ) async throws -> (page: FailedURLPage, timeToLive: Int64) {
        let timeToLive = context.settings.withLockedValue(\.negativeTTL).components.seconds
        guard let times = failedURLs.window(at: clock()) else { return (FailedURLPage(entries: []), timeToLive) }
        do {
            let page = try await store.read {
                try $0.failedURLs.list(
                    of: principal.visibleOwner, within: times, ascending: ascending, limit: limit, cursor: cursor)
            }
            return (page, timeToLive)
        } catch StoreError.invalidCursor {
            throw ManagerError.invalidField(
                path: "cursor", reason: "it does not belong to this list and order",
                expected: "the next_cursor of an answer to the same caller and order")
        }
    }

    /// Removes entries, so that their URLs are requested again. Returns the ids that were found.
    public func remove(
        _ selection: Selection, for principal: Principal
    ) async throws -> [FailedURLID] {
        let owner = principal.visibleOwner
        switch selection {
        case .ids(let ids):
            var removed: [FailedURLID] = []
            for part in ids.chunks(of: TaskStore.rowsPerStep) {
                removed += try await translatingStoreErrors {
                    try await store.write(.rows(part.count)) { try $0.failedURLs.remove(part, of: owner) }
                }
            }
            return removed
        case .url(let text):
            let url = try admission(for: principal).resolve(text, against: nil, path: "").url
            guard let urlDigest = CoalesceKey.digest(of: url, context.digest) else { return [] }
            return try await translatingStoreErrors {
                try await store.write { try $0.failedURLs.remove(urlDigest: urlDigest, of: owner) }
            }
        }
    }

    /// Empties the list in small steps. Returns the number of entries removed.
    public func clear(for principal: Principal) async throws -> Int {
        let owner = principal.visibleOwner
        return try await translatingStoreErrors {
            try await store.repeating { try $0.failedURLs.clear(of: owner) }
        }
    }
}

extension TaskStore {
    /// Runs a step in separate writes until it changes nothing. Returns the sum.
    func repeating(_ step: @escaping @Sendable (StoreTransaction) throws -> Int) async throws -> Int {
        var sum = 0
        while true {
            let count = try await write(.bulky) { try step($0) }
            guard count > 0 else { return sum }
            sum += count
        }
    }

    /// The number of rows named by a caller that one write changes, so that others' writes come between.
    static let rowsPerStep = 500
}

/// The list of failed URLs within one transaction, under the current settings.
struct FailedURLList: Sendable {
    let digest: KeyedDigest
    let isSharedBetweenOwners: Bool
    /// The time in seconds for which an entry counts; 0 turns the list off.
    let timeToLive: Int64

    /// True if an entry may refuse a task.
    func hasEntries(in tx: StoreTransaction) throws -> Bool { try timeToLive > 0 && tx.failedURLs.hasAny() }

    /// The reason for which a new task is refused; nil if it is not.
    func refusal(
        of specification: TaskSpecification, in tx: StoreTransaction, at now: Timestamp
    ) throws -> TransferError? {
        guard let times = window(at: now), try tx.failedURLs.hasAny(), let key = key(of: specification),
            let entry = try tx.failedURLs.find(key: key.bytes, within: times)
        else { return nil }
        return FailedURLRules.refusal(
            of: specification.request, because: entry,
            until: entry.failedAt.advanced(by: .seconds(timeToLive)))
    }

    /// Records how a run ended, in the transaction that commits the end.
    ///
    /// - Parameter isAuthentic: of a failure, whether the answer is the server's; see `FailedURLRules.lists`.
    func record(
        _ task: TransferTask, in tx: StoreTransaction, isAuthentic: Bool = true, at now: Timestamp
    ) throws {
        switch task.state {
        case .failed:
            guard timeToLive > 0, let error = task.error,
                FailedURLRules.lists(error, of: task.specification, isAuthentic: isAuthentic),
                let key = key(of: task.specification),
                let urlDigest = CoalesceKey.digest(of: task.specification.request.url, digest)
            else { return }
            try tx.failedURLs.insert(
                key: key.bytes, urlDigest: urlDigest, of: task, error: error, maxCount: FailedURLRules.largestCount,
                at: now)
        case .completed:
            guard FailedURLRules.isRefuted(by: task.outcome), try tx.failedURLs.hasAny(),
                let key = key(of: task.specification)
            else { return }
            try tx.failedURLs.remove(key: key.bytes)
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
