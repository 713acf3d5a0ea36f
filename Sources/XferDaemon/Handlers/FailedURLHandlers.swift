import XferManager
import XferModel
import XferProtocol

/// Handles `failed_url.*`: decodes, authorises, calls and encodes.
struct FailedURLHandlers: Sendable {
    let failedURLs: FailedURLCommands

    var all: [Handler] {
        [
            Handler(FailedURLList.self, encoding: list), Handler(FailedURLRemove.self, remove),
            Handler(FailedURLClear.self) { _, context in
                FailedURLClear.Result(
                    removedCount: try await failedURLs.clear(for: context.caller.principal))
            },
        ]
    }

    private func list(
        _ params: FailedURLList.Params, _ context: CallContext, _: (FailedURLList.Result) -> [UInt8]
    ) async throws -> [UInt8] {
        let (page, timeToLive) = try await failedURLs.list(
            ascending: params.order == .ascending, limit: params.limit, cursor: params.cursor,
            for: context.caller.principal)
        return PageText.entries(page.entries, page.cursors, page.nextCursor, as: FailedURLList.Result.self) {
            FailedURLRecord($0, timeToLive: timeToLive)
        }
    }

    private func remove(
        _ params: FailedURLRemove.Params, _ context: CallContext
    ) async throws -> FailedURLRemove.Result {
        let principal = context.caller.principal
        if let url = params.url {
            let removed = try await failedURLs.remove(.url(url), for: principal)
            return FailedURLRemove.Result(removed: removed.sorted())
        }
        let ids = params.ids ?? []
        let removed = Set(try await failedURLs.remove(.ids(ids), for: principal))
        return FailedURLRemove.Result(ids, existing: removed)
    }
}
