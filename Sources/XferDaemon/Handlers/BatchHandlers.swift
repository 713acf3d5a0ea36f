import XferManager
import XferModel
import XferProtocol

/// The handlers of the methods `batch.*`. They call `BatchCommands` and encode its results.
struct BatchHandlers: Sendable {
    let batches: BatchCommands
    let owners: TaskOwners
    /// The present defaults for fields that a new task does not set.
    let defaults: @Sendable () -> TaskDefaults

    var all: [Handler] {
        [
            Handler(BatchAdd.self, add),
            Handler(BatchGet.self) { params, context in
                BatchGet.Result(try await batches.get(params.id, for: context.caller.principal))
            },
            Handler(BatchList.self) { params, context in
                // One more than requested, to know whether there is another page.
                let found = try await batches.list(
                    before: try params.before(), limit: params.limit + 1, for: context.caller.principal)
                return BatchList.Result(found.map { BatchRecord($0) }, limit: params.limit)
            },
        ]
    }

    private func add(_ params: BatchAdd.Params, _ context: CallContext) async throws -> BatchAdd.Result {
        let seq = batches.lastSeq
        let defaults = defaults()
        let entries = try BatchCommands.Entries(params)
        let principal = try owners.principal(adding: entries.tasks, by: context.caller) {
            "tasks[\(entries.places[$0])]."
        }
        let added = try await batches.add(
            entries,
            BatchCommands.Options(
                maxActive: params.maxActive, isAtomic: params.atomic, clientKey: params.clientKey,
                requestText: params.clientKey == nil ? "" : params.canonicalText),
            defaults, for: principal)
        var result = BatchAdd.Result()
        result.batch = BatchRecord(added.batch)
        result.ids = added.ids
        result.errors = added.refusals
        result.existing = added.isExisting ? true : nil
        result.seq = seq
        return result
    }
}

extension BatchCommands.Entries {
    /// - Throws: `WireError` when the batch is atomic and an entry is at fault.
    init(_ params: BatchAdd.Params) throws {
        self.init()
        for index in params.tasks.indices {
            do throws(WireError) {
                tasks.append(try params.task(at: index))
                places.append(index)
            } catch {
                if params.atomic { throw error }
                refusals.append(BatchRefusal(index: index, RPCFailure(error)))
            }
        }
    }
}
