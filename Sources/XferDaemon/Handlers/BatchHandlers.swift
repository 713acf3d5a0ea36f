import XferManager
import XferModel
import XferProtocol

/// `batch.*`: decode, authorise, call, encode.
struct BatchHandlers: Sendable {
    let batches: BatchCommands
    /// The present defaults for fields that a new task does not set.
    let defaults: @Sendable () -> TaskDefaults

    var all: [Handler] {
        [
            Handler(BatchAdd.self, add),
            Handler(BatchGet.self) { params, context in
                BatchGet.Result(try await batches.get(params.id, for: context.caller.principal))
            },
        ]
    }

    private func add(_ params: BatchAdd.Params, _ context: CallContext) async throws -> BatchAdd.Result {
        let principal = context.caller.principal
        let defaults = defaults()
        let read = try Entries(params)
        let tasks = read.tasks
        let added = try await batches.add(
            TaskDrafts(count: tasks.count) { tasks[$0].draft(for: principal, defaults) },
            BatchCommands.Options(
                maxActive: params.maxActive, isAtomic: params.atomic, clientKey: params.clientKey,
                asked: params.clientKey == nil ? "" : params.canonicalText),
            at: read.places, unreadable: read.refusals, for: principal)
        var result = BatchAdd.Result()
        result.batch = BatchRecord(added.batch)
        result.ids = added.ids
        result.errors = added.refusals
        result.existing = added.isExisting ? true : nil
        return result
    }

    /// The valid entries, and the errors of the others.
    private struct Entries: Sendable {
        var tasks: [NewTask] = []
        /// The index of each task's entry.
        var places: [Int] = []
        var refusals: [BatchRefusal] = []

        /// - Throws: `WireError` when the batch is atomic and an entry is at fault.
        init(_ params: BatchAdd.Params) throws {
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
}
