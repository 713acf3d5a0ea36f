import XferManager
import XferModel
import XferProtocol

/// The handlers of the methods `operation.*`. They call `OperationCommands` and encode its results.
struct OperationHandlers: Sendable {
    let operations: OperationCommands

    var all: [Handler] {
        [
            Handler(OperationGet.self) { params, context in
                OperationGet.Result(
                    operation: OperationRecord(try await operations.get(params.id, for: context.caller.principal)))
            },
            Handler(OperationList.self, encoding: list),
            Handler(OperationCancel.self) { params, context in
                OperationGet.Result(
                    operation: OperationRecord(try await operations.cancel(params.id, for: context.caller.principal)))
            },
        ]
    }

    private func list(
        _ params: OperationList.Params, _ context: CallContext, _: (OperationList.Result) -> [UInt8]
    ) async throws -> [UInt8] {
        let page = try await operations.list(
            limit: params.limit, cursor: params.cursor, for: context.caller.principal)
        return PageText.entries(page.operations, page.cursors, page.nextCursor, as: OperationList.Result.self) {
            OperationRecord($0)
        }
    }
}
