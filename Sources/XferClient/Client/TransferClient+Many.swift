import StrictJSON
import XferModel
public import XferProtocol

/// Any number of tasks, with few calls.
extension TransferClient {
    /// The bytes of tasks that one `task.add` takes; a message may have 4 MiB.
    private static let largestAdd = 3 << 20

    /// Adds any number of tasks. When this returns, all of them survive a crash.
    ///
    /// Up to 10,000 tasks, or 3 MiB, go in one call, which adds all of them or none. If a task is refused, the tasks of
    /// earlier calls stay. A negative number in `after` counts within one call.
    ///
    /// - Returns: the tasks in the same order. One whose `clientKey` was known is the one that existed.
    public func addAll(_ tasks: some Sequence<NewTask>) async throws -> [TaskHandle] {
        var added: [TaskHandle] = []
        var (part, size): ([NewTask], Int) = ([], 0)
        for task in tasks {
            let task = keyed(task)
            let length = task.wire.text.utf8.count
            if !part.isEmpty, part.count >= TaskLimits.batchSize || size + length > Self.largestAdd {
                added += try await insert(.many(part), count: part.count)
                (part, size) = ([], 0)
            }
            part.append(task)
            size += length
        }
        if !part.isEmpty { added += try await insert(.many(part), count: part.count) }
        return added
    }

    /// Adds a task for each URL; see `addAll(_:)`.
    ///
    /// - Parameter configure: sets further fields of each.
    public func addAll(
        _ urls: some Sequence<String>, configure: (inout NewTask) -> Void = { _ in }
    ) async throws -> [TaskHandle] {
        try await addAll(
            urls.map { url in
                var task = NewTask(url: url)
                configure(&task)
                return task
            })
    }

    /// Waits until all of these tasks have ended or are staged, across restarts of the daemon and lost connections. One
    /// call waits for 10,000 tasks.
    ///
    /// A task that has failed or was cancelled is no error: the `state` of its record says it.
    ///
    /// - Parameter timeout: as of `TaskHandle.wait`.
    /// - Returns: the records, in the order of `tasks`.
    /// - Throws: `TaskError.missing` if one was removed, `TaskError.timedOut` if one has not ended in time,
    ///   `StoreChangedError`; `NoDaemonError` or `CallError.connection` if the daemon stays away for longer than
    ///   `Options.reconnectLimit`.
    public func waitAll(_ tasks: [TaskHandle], timeout: Duration? = nil) async throws -> [TaskRecord] {
        guard let first = tasks.first else { return [] }
        if let other = tasks.first(where: { $0.storeID != first.storeID }) {
            throw StoreChangedError(expected: other.storeID ?? "", found: first.storeID ?? "")
        }
        var seen: Set<TaskID> = []
        let ids = tasks.map(\.id).filter { seen.insert($0).inserted }
        var records = try await WaitBound.wait(for: timeout, of: first.id) { [self] deadline in
            try await waitAll(ids, in: first.storeID, until: deadline)
        }
        // Their number is not bounded: reading them takes its time, although all have ended in time.
        let unread = ids.filter { records[$0] == nil }
        records.merge(try await self.records(of: unread, in: first.storeID)) { $1 }
        return try tasks.map { task throws(TaskError) in
            guard let record = records[task.id] else { throw .missing(task.id) }
            return record
        }
    }

    /// Waits for the ends. Returns the records of tasks that ended while others went on: the daemon may remove them from
    /// its history before the last one ends.
    private func waitAll(
        _ ids: [TaskID], in storeID: String?, until deadline: ContinuousClock.Instant?
    ) async throws -> [TaskID: TaskRecord] {
        var reconnection = Reconnection(limit: options.reconnectLimit)
        var open = ids
        var ended: [TaskID: TaskRecord] = [:]
        while let next = open.first {
            let left = deadline.map { max(.zero, $0 - .now) }
            do {
                var rest: [TaskID] = []
                for part in open.chunks(of: TaskLimits.batchSize) {
                    let seconds = min(left ?? WaitBound.longestCall, WaitBound.longestCall) / .seconds(1)
                    let params = TaskWait.Params(ids: part, timeout: seconds, fields: TaskColumns([]))
                    let result = try await call(TaskWait.self, params, in: storeID).result
                    if let missing = result.missing?.first { throw TaskError.missing(missing) }
                    rest += result.open ?? []
                }
                reconnection.reset()
                if !rest.isEmpty {
                    let stillOpen = Set(rest)
                    let read = try await records(of: open.filter { !stillOpen.contains($0) }, in: storeID)
                    ended.merge(read) { $1 }
                }
                open = rest
            } catch let error where Reconnection.mayPass(error) {
                if left == .zero { throw TaskError.timedOut(next) }
                try await Task.sleep(for: reconnection.delay(after: error, atMost: left))
                continue
            }
            if let next = open.first, left == .zero { throw TaskError.timedOut(next) }
        }
        return ended
    }

    private func records(of ids: [TaskID], in storeID: String?) async throws -> [TaskID: TaskRecord] {
        var reconnection = Reconnection(limit: options.reconnectLimit)
        var records: [TaskID: TaskRecord] = [:]
        var pages = ids.chunks(of: TaskLimits.batchSize).map { part in
            var params = TaskList.Params()
            var filter = TaskFilter()
            filter.ids = OneOrMany(part)
            (params.filter, params.limit) = (filter, 1000)
            return params
        }
        while var next = pages.last {
            do {
                let page = try await call(TaskList.self, next, in: storeID).result
                for record in page.tasks { records[record.id] = record }
                guard page.nextCursor == nil || page.nextCursor != next.cursor else {
                    throw CallError.malformedResult(
                        method: TaskList.name,
                        WireError(.invalidValue, at: "next_cursor", expected: "the cursor of another page"))
                }
                pages.removeLast()
                next.cursor = page.nextCursor
                if next.cursor != nil { pages.append(next) }
                reconnection.reset()
            } catch let error where Reconnection.mayPass(error) {
                try await Task.sleep(for: reconnection.delay(after: error))
            }
        }
        return records
    }
}
