public import XferModel
public import XferProtocol

extension TransferClient {
    /// Adds a task. When this returns, the task survives a crash of this program, of the daemon and of the machine.
    ///
    /// A task without a `clientKey` gets a random one. So the add is repeated if its answer is lost, and adds one task.
    ///
    ///     let task = try await client.add(url) { $0.kind = .data }
    ///
    /// - Parameters:
    ///   - url: an absolute http or https URL, or one relative to the profile's `base_url`.
    ///   - configure: sets further fields.
    /// - Throws: the errors of a call; `CallError.refused` for a field that the daemon refuses.
    public func add(_ url: String, configure: (inout NewTask) -> Void = { _ in }) async throws -> TaskHandle {
        var task = NewTask(url: url)
        configure(&task)
        return try await add(task)
    }

    /// Adds a task; see `add(_:configure:)`.
    public func add(_ task: NewTask) async throws -> TaskHandle {
        try await insert(.one(keyed(task)), count: 1)[0]
    }

    /// Adds up to 10,000 tasks in one transaction: all or none.
    ///
    /// - Returns: the tasks in the same order. One whose `clientKey` was known is the one that existed.
    public func add(_ tasks: [NewTask]) async throws -> [TaskHandle] {
        tasks.isEmpty ? [] : try await insert(.many(tasks.map(keyed)), count: tasks.count)
    }

    /// Adds tasks, and returns the ones that were added or existed.
    ///
    /// - Returns: `count` tasks.
    func insert(_ params: TaskAdd.Params, count: Int) async throws -> [TaskHandle] {
        var reconnection = Reconnection(limit: options.reconnectLimit)
        while true {
            do {
                let (result, storeID) = try await call(TaskAdd.self, params, in: nil)
                let ids =
                    switch result {
                    case .one(let added): [added.task.id]
                    case .many(let added): added.ids
                    }
                guard ids.count == count else {
                    throw CallError.malformedResult(
                        method: TaskAdd.name, WireError(.invalidValue, at: "ids", expected: "an id for each task"))
                }
                return ids.map { TaskHandle(client: self, id: $0, storeID: storeID) }
            } catch {
                guard connector.hasReachedDaemon else { throw error }
                try await Task.sleep(for: reconnection.delay(after: error))
            }
        }
    }

    func keyed(_ task: NewTask) -> NewTask {
        var task = task
        task.clientKey = task.clientKey ?? Self.randomKey()
        return task
    }

    private static func randomKey() -> String {
        let words = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
        return "swift-" + words.joined(separator: "-")
    }

    /// A task that exists, by its id.
    ///
    /// - Parameter storeID: the database that the id belongs to, from `TaskHandle.storeID`. If the daemon has another
    ///   one, calls throw `StoreChangedError`. Nil skips that check.
    public func task(_ id: TaskID, storeID: String? = nil) -> TaskHandle {
        TaskHandle(client: self, id: id, storeID: storeID)
    }

    /// The tasks of `task.list`, fetched page by page while they are iterated over.
    ///
    /// - Parameters:
    ///   - filter: the filter of the tasks; nil is all that this user may see.
    ///   - fields: the fields of the records beside `id`; nil is all but the response's header fields.
    public func tasks(
        matching filter: TaskFilter? = nil, fields: TaskColumns? = nil, order: TaskList.Order = .descending
    ) -> TaskSequence {
        var params = TaskList.Params()
        (params.filter, params.fields, params.order, params.limit) = (filter, fields, order, 1000)
        return TaskSequence(client: self, params: params)
    }

    // MARK: Verbs on several tasks

    /// Pauses tasks; running ones stop at their last committed byte.
    @discardableResult public func pause(_ tasks: TaskSelection) async throws -> SelectionResult {
        try await call(TaskPause.self, tasks)
    }

    /// Queues paused tasks again; waiting ones start now if that can help.
    @discardableResult public func resume(_ tasks: TaskSelection) async throws -> SelectionResult {
        try await call(TaskResume.self, tasks)
    }

    /// Cancels unfinished tasks and deletes their partial bytes; never a published file.
    @discardableResult public func cancel(_ tasks: TaskSelection) async throws -> SelectionResult {
        try await call(TaskCancel.self, tasks)
    }

    /// Queues failed tasks again.
    @discardableResult public func retry(_ tasks: TaskSelection) async throws -> SelectionResult {
        try await call(TaskRetry.self, tasks)
    }

    /// Removes tasks that have ended.
    ///
    /// - Parameter files: true if the files that they published are deleted, too.
    @discardableResult public func remove(_ tasks: TaskSelection, files: Bool = false) async throws -> SelectionResult {
        try await call(TaskRemove.self, TaskRemove.Params(tasks, files: files))
    }
}
