import XferCore
import XferCurl
public import XferModel
public import XferProtocol
import XferStore

/// `cache.*`: an owner sees and removes its own entries; an operator all owners'.
public struct CacheCommands: ManagerPart, Sendable {
    let context: ManagerContext

    /// The entries to remove.
    public enum Selection: Sendable {
        case ids([CacheEntryID])
        /// All entries that were requested under this URL, in a client's spelling, or that were sent from it.
        case url(String)
    }

    /// The contents and the limits of the cache.
    public func stats(for principal: Principal) async throws -> CacheStats.Result {
        let totals = try await store.read { try $0.cache.totals(of: principal.visibleOwner) }
        var result = CacheStats.Result()
        (result.entries, result.size) = (totals.count, totals.byteCount)
        result.maxBytes = settings.cacheMaxBytes
        result.maxAge = settings.cacheMaxAge.components.seconds
        return result
    }

    /// Returns one page of the entries, by id.
    public func list(
        ascending: Bool, limit: Int, cursor: String?, for principal: Principal
    ) async throws -> CachePage {
        do {
            return try await store.read {
                try $0.cache.entries(of: principal.visibleOwner, ascending: ascending, limit: limit, cursor: cursor)
            }
        } catch StoreError.invalidCursor {
            throw ManagerError.invalidField(
                path: "cursor", reason: "it does not belong to this list and order",
                expected: "the next_cursor of an answer to the same caller and order")
        }
    }

    /// Returns an entry of the cache.
    ///
    /// - Throws: `cacheEntryNotFound`, also for other owners' entries.
    public func get(_ id: CacheEntryID, for principal: Principal) async throws -> CacheEntry {
        guard let entry = try await store.read({ try $0.cache.find(id, of: principal.visibleOwner) }) else {
            throw ManagerError.cacheEntryNotFound(id)
        }
        return entry
    }

    /// The time until which an entry is used without a request; nil if it has to be validated now.
    public func freshUntil(_ entry: CacheEntry) -> Timestamp? {
        let now = clock()
        let freshness = Freshness(of: entry.response, at: now)
        guard freshness.isFresh, let age = freshness.age, !CacheDirectives(entry.response.fields).has("no-cache") else {
            return nil
        }
        return now.advanced(by: freshness.lifetime - age)
    }

    /// Removes entries, so that their responses are fetched again. Returns the ids that were found.
    public func remove(
        _ selection: Selection, for principal: Principal
    ) async throws -> [CacheEntryID] {
        let owner = principal.visibleOwner
        switch selection {
        case .ids(let ids):
            var removed: [CacheEntryID] = []
            for part in ids.chunks(of: TaskStore.rowsPerStep) {
                removed += try await remove { try $0.cache.remove(part, of: owner) }
            }
            return removed
        case .url(let text):
            let url = try admission(for: principal).resolve(text, against: nil, path: "").url
            guard let urlDigest = CoalesceKey.digest(of: url, context.digest) else { return [] }
            return try await remove { try $0.cache.remove(urlDigest: urlDigest, of: owner) }
        }
    }

    private func remove(
        _ change: @escaping @Sendable (StoreTransaction) throws -> [CachedBlob]
    ) async throws -> [CacheEntryID] {
        let removed = try await translatingStoreErrors { try await store.write(.bulky, change) }
        services.cache.forget(removed)
        return removed.map(\.id)
    }

    /// Empties the cache in small steps; for operators. Returns how much was removed.
    public func clear() async throws -> CacheTotals {
        try await translatingStoreErrors { try await services.cache.clear(of: nil) }
    }

    /// Trims the cache now, to its limits or to narrower ones; for operators. Returns how much was removed.
    public func trim(maxBytes: Int64?, maxAge: Int64?) async throws -> CacheTotals {
        var limits = settings.cacheLimits
        limits.maxBytes = min(limits.maxBytes, maxBytes ?? limits.maxBytes)
        limits.maxAge = min(limits.maxAge, maxAge ?? limits.maxAge)
        return try await translatingStoreErrors { [limits] in try await services.cache.trim(to: limits) }
    }
}
