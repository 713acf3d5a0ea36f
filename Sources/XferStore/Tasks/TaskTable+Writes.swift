public import XferModel

extension TaskTable where Store == StoreTransaction {
    /// Inserts a row with the next id, for a task that was not prepared.
    ///
    /// - Parameter batch: the batch it is a member of; see `batches.insert`.
    public func insert(
        _ specification: TaskSpecification, body: RequestBody? = nil, requestText: String? = nil, state: TaskState,
        wait: Wait? = nil, coalesceKey: [UInt8]? = nil, batch: BatchID? = nil, at time: Timestamp
    ) throws(StoreError) -> TransferTask {
        let insertion = try TaskInsertion(
            specification, body: body, requestText: requestText, coalesceKey: coalesceKey, state: state, wait: wait)
        return try insert([insertion], batch: batch, at: time)[0]
    }

    /// Writes every mutable column but `rank`, which only `move` changes. Owner, kind, client key and batch are not
    /// mutable.
    public func update(_ task: TransferTask) throws(StoreError) {
        guard let former = try self.find(task.id) else { throw .noSuchTask(task.id) }
        try update(task, from: former)
    }

    /// Updates a task that was read in this change-set and not written since.
    public func update(_ task: TransferTask, from former: TransferTask) throws(StoreError) {
        try store.requireFree(task.id)
        let keepsLinks = task.hasLinks(of: former)
        switch (task.hasProgress(of: former), keepsLinks && task.hasState(of: former)) {
        case (true, true): break
        case (false, true): try updateProgress(of: task)
        case (true, false): try updateState(of: task, keepsLinks)
        case (false, false): try updateProgressAndState(of: task, keepsLinks)
        }
        let formerGroup = try store.groups.id(of: former.group) ?? GroupRow.none
        let isSameGroup = former.group == task.group
        let group = isSameGroup ? formerGroup : try store.groups.make(task.group)
        if !task.requestsSame(as: former) || task.coalesceKey != former.coalesceKey {
            try updateSpecification(of: task, try SpecificationColumns(task.specification), inGroup: group)
            let bytes = task.variableBytes
            if bytes != former.variableBytes { try store.storedBytes.set(Int64(clamping: bytes), .row, of: task.id) }
        }
        store.remember(task, rank: former.rank)
        try store.hooks.record(of: task, after: former.state)
        let (formerPlace, place) = (QueuePlace(of: former, inGroup: formerGroup), QueuePlace(of: task, inGroup: group))
        guard place != formerPlace else { return }
        if place.state.isTerminal, !former.state.isTerminal {
            try store.dependencies.recordEnd(of: task)
            if place.state != .failed { try store.cooldowns.expire(causedBy: [task.id]) }
            if let names = task.specification.completion.onEnd { store.endWebhooks[task.id] = names }
        }
        if place.state == .queued, former.state != .queued {
            try store.dependencies.renewConditions(of: task, from: former.state)
        }
        store.count(formerPlace, by: -1)
        store.count(place, by: 1)
        if !isSameGroup { try store.groups.tidy(formerGroup) }
    }

    /// Removes the row and its dependent rows; its transfer stays, see `transfers.orphans`.
    public func delete(_ id: TaskID) throws(StoreError) {
        try store.requireFree(id)
        let place = try connection.first(
            "SELECT owner, group_name, state, priority, host, group_id, batch_id, profile FROM task WHERE id = ?1",
            Value(id)
        ) { row throws(StoreError) in try QueuePlace(row, of: id) }
        guard let place else { throw .noSuchTask(id) }
        try store.cooldowns.expire(causedBy: [id])
        try deleteDependents(of: [id])
        try connection.run("DELETE FROM task WHERE id = ?1", Value(id))
        if place.state == .failed, let batch = place.batch { try store.batches.countRemovedFailure(from: batch) }
        store.count(place, by: -1)
        try store.groups.tidy(place.groupID)
    }

    /// Writes the columns that change while a task runs. No index contains them, so that no index is touched.
    private func updateProgress(of task: TransferTask) throws(StoreError) {
        try connection.run(
            "progress", composed: Self.update(Self.progressColumns), (try progress(of: task)) + [Value(task.id)])
    }

    /// Writes the columns of the task's state.
    ///
    /// - Parameter keepsLinks: true if `linkColumns` do not change. Five indexes that contain them are not touched
    ///   then.
    private func updateState(of task: TransferTask, _ keepsLinks: Bool) throws(StoreError) {
        if keepsLinks {
            try connection.run(
                "state", composed: Self.update(Self.stateColumns), stateValues(of: task) + [Value(task.id)])
        } else {
            try connection.run(
                "state and links", composed: Self.update(Self.stateColumns + Self.linkColumns),
                stateValues(of: task) + links(of: task) + [Value(task.id)])
        }
    }

    /// Updates both in one statement when a run begins or ends, so that the row is written once.
    private func updateProgressAndState(of task: TransferTask, _ keepsLinks: Bool) throws(StoreError) {
        let values = (try progress(of: task)) + stateValues(of: task)
        if keepsLinks {
            try connection.run(
                "progress and state", composed: Self.update(Self.progressColumns + Self.stateColumns),
                values + [Value(task.id)])
        } else {
            try connection.run(
                "progress, state and links",
                composed: Self.update(Self.progressColumns + Self.stateColumns + Self.linkColumns),
                values + links(of: task) + [Value(task.id)])
        }
    }

    private static var progressColumns: [String] {
        [
            "received", "total", "attempts", "started_at", "last_progress_at", "error_reason", "error", "final_url",
            "http_status", "etag", "content_encoding", "skipped", "not_modified", "response_headers", "furthest",
            "sent", "last_attempt",
        ]
    }

    private static var stateColumns: [String] { ["state", "finished_at", "final_path"] }

    /// The columns of the task's wait and its transfer.
    private static var linkColumns: [String] { ["wait_reason", "wait_until", "transfer_id"] }

    private static func update(_ columns: [String]) -> String {
        "UPDATE task SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"
    }

    /// The values of `progressColumns`, in their order.
    private func progress(of task: TransferTask) throws(StoreError) -> [Value] {
        let outcome = task.outcome
        let error: String? = if let error = task.error { try JSONText.encode(error) } else { nil }
        return [
            .integer(task.received), Value(task.total), Value(task.attempts), Value(task.startedAt),
            Value(task.lastProgressAt), Value(task.error?.reason.rawValue), Value(error),
            Value(outcome.finalURL?.string), Value(outcome.httpStatus), Value(outcome.etag),
            Value(outcome.contentEncoding), Value(outcome.skipped), Value(outcome.notModified),
            Value(JSONText.encode(headers: outcome.responseHeaders)), .integer(task.furthest), .integer(task.sent),
            Value(outcome.lastAttempt?.text),
        ]
    }

    /// The values of `stateColumns`, in their order.
    private func stateValues(of task: TransferTask) -> [Value] {
        [Value(task.state), Value(task.finishedAt), Value(task.outcome.finalPath)]
    }

    /// The values of `linkColumns`, in their order.
    private func links(of task: TransferTask) -> [Value] {
        [Value(task.wait?.reason.rawValue), Value(task.wait?.until), Value(task.transferID)]
    }

    private func updateSpecification(
        of task: TransferTask, _ columns: SpecificationColumns, inGroup group: Int64
    ) throws(StoreError) {
        try connection.run(
            """
            UPDATE task SET priority = ?2, host = ?3, group_name = ?4, label = ?5, url = ?6, directory = ?7, name = ?8,
                checksum = ?9, options = ?10, meta = ?11, directory_device = ?12, directory_inode = ?13, policy = ?14,
                profile = ?15, slot = ?16, coalesce_key = ?17, group_id = ?18
            WHERE id = ?1
            """,
            Value(task.id), columns.priority, columns.host, columns.group, columns.label, columns.url,
            columns.directory,
            columns.name, columns.checksum, columns.options, columns.meta, columns.directoryDevice,
            columns.directoryInode, columns.policy, columns.profile, columns.slot, Value(task.coalesceKey),
            .integer(group))
    }
}

extension TransferTask {
    /// True if `updateProgress` would write the same.
    fileprivate func hasProgress(of other: TransferTask) -> Bool {
        var outcome = other.outcome
        outcome.finalPath = self.outcome.finalPath
        return received == other.received && total == other.total && sent == other.sent && furthest == other.furthest
            && attempts == other.attempts && startedAt == other.startedAt && lastProgressAt == other.lastProgressAt
            && error == other.error && self.outcome == outcome
    }

    /// True if the columns of the state have the same values, except for the links.
    fileprivate func hasState(of other: TransferTask) -> Bool {
        state == other.state && finishedAt == other.finishedAt && outcome.finalPath == other.outcome.finalPath
    }

    fileprivate func hasLinks(of other: TransferTask) -> Bool { wait == other.wait && transferID == other.transferID }
}

extension QueuePlace {
    /// - Parameter group: the row of the task's group.
    init(of task: TransferTask, inGroup group: Int64) {
        self.init(
            owner: task.owner, group: task.specification.group, state: task.state,
            priority: task.specification.priority, host: task.host, groupID: group,
            profile: task.specification.profile, batch: task.batchID)
    }

    /// Reads a row that begins with owner, group_name, state, priority, host, group_id, batch_id, profile.
    init(_ row: ResultRow, of id: TaskID) throws(StoreError) {
        guard let priority = Priority(rawValue: Int(clamping: row.integer(3))) else {
            throw .unreadable(table: "task", id: id.rawValue, column: "priority")
        }
        self.init(
            owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(0))), group: row.optionalText(1),
            state: try row.word(TaskState.self, 2, table: "task", id: id.rawValue, name: "state"), priority: priority,
            host: row.text(4), groupID: row.integer(5), profile: row.optionalText(7),
            batch: row.optionalInteger(6).map { BatchID($0) })
    }
}

/// The tables whose rows are removed together with the task of their `task_id`. They have no foreign keys: see
/// `Migration.cheapRemovals`.
enum TaskDependents {
    static let tables: [StaticString] = [
        "reservation", "request_body", "task_result", "spooled_source", "published_file", "calendar", "dependency",
        "task_bytes",
    ]

    /// `+` hides the second condition from the planner: usually no row has a `task_id` in the range, and one search of
    /// the table is enough for all tasks.
    fileprivate static func deletion(from table: StaticString) -> String {
        """
        DELETE FROM \(table) WHERE task_id BETWEEN ?1 AND ?2 AND +task_id IN (SELECT value FROM json_each(?3))
        """
    }
}

extension TaskTable where Store == StoreTransaction {
    /// Deletes the rows that depend on tasks that are about to be deleted.
    func deleteDependents(of tasks: [TaskID]) throws(StoreError) {
        guard let first = tasks.min(), let last = tasks.max() else { return }
        let list = Value.text(JSONText.array(tasks.map(\.rawValue)))
        for table in TaskDependents.tables {
            try connection.run(
                table, composed: TaskDependents.deletion(from: table), [Value(first), Value(last), list])
        }
    }
}
