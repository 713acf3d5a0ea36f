package import XferManager
package import XferModel
package import XferProtocol

/// The methods of `task.*` that the daemon and a fleet have in common, each for its own tasks.
package protocol TaskService: Sendable {
    func add(_ params: TaskAdd.Params, _ context: CallContext) async throws -> TaskAdd.Result
    func get(_ params: TaskGet.Params, _ context: CallContext) async throws -> TaskGet.Result
    /// Returns the text of a `TaskList.Result`.
    func list(_ params: TaskList.Params, _ context: CallContext) async throws -> [UInt8]
    /// Returns the text of a `TaskWait.Result`.
    func wait(_ params: TaskWait.Params, _ context: CallContext) async throws -> [UInt8]
    func update(_ params: TaskUpdate.Params, _ context: CallContext) async throws -> TaskUpdate.Result
    func move(_ params: TaskMove.Params, _ context: CallContext) async throws -> TaskMove.Result
    func result(_ params: TaskResult.Params, _ context: CallContext) async throws -> TaskResult.Result
    func apply(
        _ verb: TaskVerb, to selection: TaskSelection, _ context: CallContext
    ) async throws -> SelectionResult
    func remove(_ params: TaskRemove.Params, _ context: CallContext) async throws -> SelectionResult
}

extension TaskService {
    /// The handlers of the methods in common.
    package var commonTaskHandlers: [Handler] {
        [
            Handler(TaskAdd.self) { params, context in try await add(params, context) },
            Handler(TaskGet.self) { params, context in try await get(params, context) },
            Handler(TaskList.self, encoding: { params, context, _ in try await list(params, context) }),
            Handler(TaskWait.self, encoding: { params, context, _ in try await wait(params, context) }),
            Handler(TaskUpdate.self) { params, context in try await update(params, context) },
            Handler(TaskMove.self) { params, context in try await move(params, context) },
            Handler(TaskResult.self) { params, context in try await result(params, context) },
            verb(TaskPause.self, .pause), verb(TaskResume.self, .resume), verb(TaskCancel.self, .cancel),
            verb(TaskRetry.self, .retry),
            Handler(TaskRemove.self) { params, context in try await remove(params, context) },
        ]
    }

    private func verb<Method: RPCMethod>(_ method: Method.Type, _ verb: TaskVerb) -> Handler
    where Method.Params == TaskSelection, Method.Result == SelectionResult {
        Handler(method) { params, context in try await apply(verb, to: params, context) }
    }
}

extension TaskWait.Result {
    /// The answer of a wait, without the records.
    ///
    /// - Parameters:
    ///   - omitted: the tasks whose records do not fit into the answer.
    ///   - open: the tasks whose states do not end the wait.
    ///   - missing: the ids that belong to no task of the caller's.
    ///   - isOver: false if the time is up.
    package init(omitted: [TaskID], open: [TaskID], missing: [TaskID], isOver: Bool) {
        self.init(tasks: [], timedOut: !isOver)
        self.omitted = omitted.isEmpty ? nil : Array(omitted.prefix(TaskLimits.batchSize))
        self.open = open.isEmpty ? nil : Array(open.prefix(TaskLimits.batchSize))
        openCount = open.count > TaskLimits.batchSize ? open.count : nil
        self.missing = missing.isEmpty ? nil : missing
    }
}
