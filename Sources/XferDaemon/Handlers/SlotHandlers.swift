import XferManager
import XferModel
import XferProtocol

/// The handlers of the methods `slot.*`. They call `SlotCommands` and encode its results. Every caller has slots of its
/// own.
struct SlotHandlers: Sendable {
    let slots: SlotCommands
    let queries: TaskQueries

    var all: [Handler] {
        [
            Handler(SlotGet.self) { params, context in
                try await result(slots.task(in: params.slot, for: context.caller.principal))
            },
            Handler(SlotDetach.self) { params, context in
                try await result(slots.detach(from: params.slot, for: context.caller.principal))
            },
            Handler(SlotCancel.self) { params, context in
                try await result(slots.cancel(in: params.slot, for: context.caller.principal))
            },
        ]
    }

    private func result(_ task: TransferTask?) async throws -> SlotGet.Result {
        let records = TaskRecords(queries: queries)
        return SlotGet.Result(task: try await records.records(of: task.map { [$0] } ?? [], .listing).first)
    }
}
