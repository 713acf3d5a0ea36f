import XferCore
import XferModel
import XferStore

/// The cache lookup that runs share.
extension TaskRun {
    /// Decides by the task's cache policy how kept responses are used.
    ///
    /// - Throws: `onlyIfCachedMiss` instead of returning `miss`.
    func consultCache() async throws -> CacheDecision<CacheLease> {
        let decision = try await services.cache.decide(for: specification, heldTo: trust)
        if case .miss = decision {
            throw TransferError(
                .onlyIfCachedMiss, "nothing usable is kept of \(specification.request.url), and the task may not ask",
                host: specification.request.url.hostKey)
        }
        return decision
    }

    /// The event `cache.hit` with the response's current age.
    func hit(_ response: StoredResponse) -> EventPayload {
        let freshness = Freshness(of: response, at: services.clock())
        return .cacheHit(age: freshness.age?.components.seconds, fresh: freshness.isFresh)
    }

    /// Whether the task has reported a kept response but not yet the result of its revalidation.
    func owesWord() async throws -> Bool {
        guard specification.request.caching.policy == .revalidate else { return false }
        let id = taskID
        let told = try await services.store.read {
            try $0.events(since: 0, types: [.cacheHit, .taskRefreshed, .taskNotModified], taskIDs: [id], limit: 2)
        }
        return told.map(\.type) == [.cacheHit]
    }

    /// Reports a kept response, with the content for `task.result`, before the request is sent. A task that is retried
    /// reports it only once.
    func tellHit(_ response: StoredResponse, _ kept: KeptResponse? = nil) async throws {
        let (event, id, now) = (hit(response), taskID, services.clock())
        try await commit(.immediate) { tx, machine in
            guard machine.task.state == .running else { throw Overtaken() }
            guard try tx.events(since: 0, types: [.cacheHit], taskIDs: [id], limit: 1).isEmpty else { return }
            try tx.append(event, taskID: id, owner: machine.task.owner, at: now)
            if let kept { try tx.setResult(kept.result, of: id, at: now) }
        }
        withExtendedLifetime(kept) {}
    }
}
