public import StrictJSON
public import XferModel
public import XferProtocol

/// A task of the daemon.
///
/// Its methods throw the errors of a call (`TransferClient`), and `StoreChangedError` if the daemon came back with
/// another database.
public struct TaskHandle: Sendable {
    let client: TransferClient
    /// Identifies the task in its database; never reused there.
    public let id: TaskID
    /// The database that the id belongs to; nil if the daemon does not reveal it to this client.
    public let storeID: String?

    /// Waits until the task is completed or staged, across restarts of the daemon and lost connections.
    ///
    /// - Parameter timeout: at most ten years; nil waits without a limit. If the daemon does not answer, it takes up
    ///   to two seconds longer.
    /// - Returns: the task at its end; `finalPath` is the path of the file.
    /// - Throws: `TaskError` if the task ends otherwise or not in time; `NoDaemonError` or `CallError.connection` if
    ///   the daemon stays away for longer than `Options.reconnectLimit`.
    public func wait(timeout: Duration? = nil) async throws -> TaskRecord {
        try await WaitBound.wait(for: timeout, of: id) { try await wait(until: $0) }
    }

    private func wait(until deadline: ContinuousClock.Instant?) async throws -> TaskRecord {
        var reconnection = Reconnection(limit: client.options.reconnectLimit)
        while true {
            let left = deadline.map { max(.zero, $0 - .now) }
            do {
                let seconds = min(left ?? WaitBound.longestCall, WaitBound.longestCall) / .seconds(1)
                let params = TaskWait.Params(ids: [id], timeout: seconds)
                let result = try await client.call(TaskWait.self, params, in: storeID).result
                reconnection.reset()
                if let record = try ended(result) { return record }
            } catch CallError.refused(let failure) where failure.knownCode == .notFound {
                throw TaskError.missing(id)
            } catch let error where Reconnection.mayPass(error) {
                if left == .zero { throw TaskError.timedOut(id) }
                try await Task.sleep(for: reconnection.delay(after: error, atMost: left))
                continue
            }
            if left == .zero { throw TaskError.timedOut(id) }
        }
    }

    /// The task if it is completed or staged, nil if it continues.
    private func ended(_ result: TaskWait.Result) throws(TaskError) -> TaskRecord? {
        guard let task = result.tasks.first(where: { $0.id == id }) else { throw .missing(id) }
        return switch task.state?.value {
        case .completed, .staged: task
        case .failed: throw .failed(task)
        case .cancelled: throw .cancelled(task)
        default: nil
        }
    }

    /// Reads the task's present record.
    ///
    /// - Parameter fields: the fields of the record beside `id`; nil is all.
    public func record(fields: TaskColumns? = nil) async throws -> TaskRecord {
        try await client.call(TaskGet.self, TaskGet.Params(id: id, fields: fields), in: storeID).result.task
    }

    /// Events about the task, from the oldest stored one.
    ///
    /// - Parameters:
    ///   - position: the stored events after it are delivered first.
    ///   - types: types of events; nil is all, `task.progress` included.
    public func events(since position: EventPosition? = nil, types: [EventName]? = nil) async throws -> EventSequence {
        try await client.events(
            since: position ?? EventPosition(seq: 0, storeID: storeID), types: types, tasks: [id])
    }

    // MARK: Verbs

    /// Pauses the task; the received bytes are kept.
    ///
    /// - Returns: true if it changed. False if its state needed no change, or does not allow it.
    @discardableResult public func pause() async throws -> Bool { try await apply(TaskPause.self, selection) }

    /// Queues the paused task again.
    ///
    /// - Returns: as `pause`.
    @discardableResult public func resume() async throws -> Bool { try await apply(TaskResume.self, selection) }

    /// Cancels the task and deletes its partial bytes; never a published file.
    ///
    /// - Returns: as `pause`.
    @discardableResult public func cancel() async throws -> Bool { try await apply(TaskCancel.self, selection) }

    /// Queues the failed or cancelled task again.
    ///
    /// - Returns: as `pause`.
    @discardableResult public func retry() async throws -> Bool { try await apply(TaskRetry.self, selection) }

    /// Publishes the staged download under its final name.
    ///
    /// - Returns: as `pause`.
    @discardableResult public func commit() async throws -> Bool { try await apply(TaskCommit.self, selection) }

    /// Removes the task, which must have ended.
    ///
    /// - Parameter files: true if the file that it published is deleted, too.
    /// - Returns: as `pause`.
    @discardableResult public func remove(files: Bool = false) async throws -> Bool {
        try await apply(TaskRemove.self, TaskRemove.Params(selection, files: files))
    }

    private var selection: TaskSelection { TaskSelection(ids: [id]) }

    private func apply<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) async throws -> Bool where Method.Result == SelectionResult {
        guard case .ids(let listed) = try await client.call(method, params, in: storeID).result else {
            throw CallError.malformedResult(
                method: Method.name, WireError(.missing, at: "changed", expected: "the tasks that changed"))
        }
        if listed.missing.contains(id) { throw TaskError.missing(id) }
        return listed.changed.contains(id)
    }

    // MARK: Response

    /// A server's answer to a data task or an upload.
    public struct Response: Hashable, Sendable {
        public let bytes: [UInt8]
        /// The result of `parse`; nil if the task does not parse its response.
        public let object: JSONValue?
    }

    /// The whole response of a data task or an upload that has ended. The daemon keeps it for seven days.
    ///
    /// - Parameter limit: the highest number of bytes that are read into memory. `TaskResult` reads a longer response
    ///   page by page.
    /// - Throws: `ResultTooLongError`.
    public func result(limit: Int = 64 << 20) async throws -> Response {
        var (bytes, object): ([UInt8], JSONValue?) = ([], nil)
        while true {
            let params = TaskResult.Params(id: id, offset: Int64(clamping: bytes.count))
            let page = try await client.call(TaskResult.self, params, in: storeID).result
            guard page.length <= Int64(clamping: limit) else {
                throw ResultTooLongError(length: page.length, limit: limit)
            }
            guard let part = page.bytes, page.eof || !part.isEmpty, bytes.count + part.count <= limit else {
                throw CallError.malformedResult(
                    method: TaskResult.name, WireError(.invalidValue, at: "data", expected: "bytes of the response"))
            }
            if bytes.isEmpty { object = page.object }
            bytes += part
            if page.eof { return Response(bytes: bytes, object: object) }
        }
    }
}
