public import XferModel

/// The part of a task's row that a verb over many tasks needs. The whole row takes ten times as long to read.
public struct TaskOutline: Sendable {
    public let id: TaskID
    public let kind: TaskKind
    public let received: Int64
    /// True if a transfer, with its bytes, belongs to the task.
    public let hasTransfer: Bool
    /// True if `lastProgressAt` is set: the task has made an attempt.
    public let hasBegun: Bool
    /// True if it has conditions for its start.
    public let hasConditions: Bool
    /// True if something follows its end: hooks, webhooks.
    public let hasCompletion: Bool
    /// True if its request has content.
    public let hasContent: Bool
    let place: QueuePlace

    public var owner: Owner { place.owner }
    public var state: TaskState { place.state }
    public var batchID: BatchID? { place.batch }
}

extension TaskTable {
    /// Outlines of these tasks. Tasks that do not exist or are unreadable are left out.
    public func outlines(of ids: [TaskID]) throws(StoreError) -> [TaskID: TaskOutline] {
        // Many tasks in a row have the same options.
        var last: (text: String, options: OutlinedOptions)?
        let found = try connection.all(
            """
            SELECT owner, group_name, state, priority, host, group_id, batch_id, profile, id, kind, received,
                transfer_id IS NOT NULL, last_progress_at IS NOT NULL, options
            FROM task WHERE id IN (SELECT value FROM json_each(?1))
            """, .text(JSONText.array(ids.map(\.rawValue)))
        ) { row throws(StoreError) -> TaskOutline? in
            var options = OutlinedOptions()
            if let last, row.holds(.text(last.text), 13) {
                options = last.options
            } else if let text = row.optionalText(13) {
                guard let read = OutlinedOptions(text) else { return nil }
                options = read
                last = (text, read)
            }
            return TaskOutline(row, options)
        }
        return Dictionary(uniqueKeysWithValues: found.compactMap { outline in outline.map { ($0.id, $0) } })
    }

    /// The tasks among these that reserve a name or that other tasks wait for: their end affects more than their own
    /// rows.
    public func tied(among ids: [TaskID]) throws(StoreError) -> Set<TaskID> {
        let list = Value.text(JSONText.array(ids.map(\.rawValue)))
        let holders = try connection.all(
            """
            SELECT task_id FROM reservation INDEXED BY reservation_task
            WHERE task_id IN (SELECT value FROM json_each(?1))
            """, list
        ) { TaskID($0.integer(0)) }
        let targets = try connection.all(
            """
            SELECT target_id FROM dependency INDEXED BY dependency_open
            WHERE outcome IS NULL AND target_id IN (SELECT value FROM json_each(?1))
            """, list
        ) { TaskID($0.integer(0)) }
        return Set(holders).union(targets)
    }
}

/// Writes for many tasks at once, with one statement each. The outlines were read in this change-set, and their tasks
/// were not written since.
extension TaskTable where Store == StoreTransaction {
    /// Puts unfinished tasks into a state, without a wait. For an end: tasks that have neither transfer, conditions nor
    /// completion, and are not `tied`.
    public func move(_ tasks: [TaskOutline], to state: TaskState, finishedAt: Timestamp?) throws(StoreError) {
        try store.requireFree(tasks)
        if state == .cancelled || state == .completed { try store.cooldowns.expire(causedBy: tasks.map(\.id)) }
        try connection.run(
            """
            UPDATE task SET state = ?2, wait_reason = NULL, wait_until = NULL, finished_at = ?3
            WHERE id IN (SELECT value FROM json_each(?1))
            """, list(of: tasks), Value(state), Value(finishedAt))
        count(tasks.map(\.place), by: -1)
        count(
            tasks.map { task in
                var place = task.place
                place.state = state
                return place
            }, by: 1)
    }

    /// Deletes tasks like `delete`, but must not be called for failed members of batches.
    public func delete(_ tasks: [TaskOutline]) throws(StoreError) {
        try store.requireFree(tasks)
        try store.cooldowns.expire(causedBy: tasks.map(\.id))
        try deleteDependents(of: tasks.map(\.id))
        try connection.run("DELETE FROM task WHERE id IN (SELECT value FROM json_each(?1))", list(of: tasks))
        count(tasks.map(\.place), by: -1)
        for group in Set(tasks.map(\.place.groupID)) { try store.groups.tidy(group) }
    }

    private func list(of tasks: [TaskOutline]) -> Value { .text(JSONText.array(tasks.map(\.id.rawValue))) }

    /// The last place that was read: neighbours usually have the same one.
    private func count(_ places: [QueuePlace], by amount: Int64) {
        var rest = places[...]
        while let place = rest.first {
            let others = rest.drop { $0 == place }
            store.count(place, by: amount * Int64(clamping: rest.count - others.count))
            rest = others
        }
    }
}

extension TaskOutline {
    /// Reads a row of `outlines`; returns nil if it is unreadable.
    fileprivate init?(_ row: ResultRow, _ options: OutlinedOptions) {
        let id = TaskID(row.integer(8))
        guard let place = try? QueuePlace(row, of: id), let kind = TaskKind(rawValue: row.text(9)) else { return nil }
        self.init(
            id: id, kind: kind, received: row.amount(10), hasTransfer: row.flag(11), hasBegun: row.flag(12),
            hasConditions: options.hasConditions, hasCompletion: options.hasCompletion,
            hasContent: options.hasContent, place: place)
    }
}

/// The options in an outline.
private struct OutlinedOptions {
    var hasConditions = false
    var hasCompletion = false
    var hasContent = false

    init() {}

    /// Reads the text. Returns nil if it is unreadable.
    init?(_ text: String) {
        guard let read = TaskOptions.apply(text, to: Self.none) else { return nil }
        hasConditions = !read.schedule.isEmpty
        hasCompletion = read.completion != TaskCompletion()
        hasContent = read.request.bodySummary != nil
    }

    private static let none = TaskSpecification(
        owner: Owner(uid: 0), request: TransferRequest(url: HTTPURL(scheme: .http, host: "", port: 80, target: "/")),
        destination: Destination(directory: "/"))
}
