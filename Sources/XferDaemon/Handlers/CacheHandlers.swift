import XferManager
import XferModel
import XferProtocol

/// The handlers of the methods `cache.*`. They call `CacheCommands` and encode its results.
struct CacheHandlers: Sendable {
    let cache: CacheCommands

    var all: [Handler] {
        [
            Handler(CacheStats.self) { _, context in try await cache.stats(for: context.caller.principal) },
            Handler(CacheList.self, encoding: list), Handler(CacheGet.self, get),
            Handler(CachePut.self, put), Handler(CacheRemove.self, remove),
            Handler(CacheClear.self) { _, _ in CacheClear.Result(try await cache.clear()) },
            Handler(CacheTrim.self) { params, _ in
                CacheClear.Result(try await cache.trim(maxBytes: params.maxBytes, maxAge: params.maxAge))
            },
        ]
    }

    private func list(
        _ params: CacheList.Params, _ context: CallContext, _: (CacheList.Result) -> [UInt8]
    ) async throws -> [UInt8] {
        let page = try await cache.list(
            ascending: params.order == .ascending, limit: params.limit, cursor: params.cursor,
            for: context.caller.principal)
        return PageText.entries(page.entries, page.cursors, page.nextCursor, as: CacheList.Result.self) {
            CacheEntryRecord($0, freshUntil: cache.freshUntil($0))
        }
    }

    private func get(_ params: CacheGet.Params, _ context: CallContext) async throws -> CacheGet.Result {
        let entry = try await cache.get(params.id, for: context.caller.principal)
        return CacheGet.Result(
            entry: CacheEntryRecord(entry, freshUntil: cache.freshUntil(entry), isDetailed: true))
    }

    private func put(_ params: CachePut.Params, _ context: CallContext) async throws -> CachePut.Result {
        let entry = try await cache.put(params, for: context.caller.principal)
        return CachePut.Result(
            entry: CacheEntryRecord(entry, freshUntil: cache.freshUntil(entry), isDetailed: true))
    }

    private func remove(_ params: CacheRemove.Params, _ context: CallContext) async throws -> CacheRemove.Result {
        let principal = context.caller.principal
        if let url = params.url {
            let removed = try await cache.remove(.url(url), for: principal)
            return CacheRemove.Result(removed: removed.sorted())
        }
        let ids = params.ids ?? []
        let removed = Set(try await cache.remove(.ids(ids), for: principal))
        return CacheRemove.Result(ids, existing: removed)
    }
}

extension CacheClear.Result {
    init(_ totals: CacheTotals) { self.init(removedCount: totals.count, removedSize: totals.byteCount) }
}
