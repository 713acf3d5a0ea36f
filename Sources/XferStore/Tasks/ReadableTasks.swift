public import XferModel

/// Tasks read from several rows. A damaged row does not fail work on the others: it is left out and named.
public struct ReadableTasks: RandomAccessCollection, Sendable {
    private var tasks: [TransferTask] = []
    /// The tasks whose rows are unreadable.
    public private(set) var unreadable: [TaskID] = []
    /// The task of the last row, readable or not; nil if there was no row.
    public private(set) var lastID: TaskID?

    public var startIndex: Int { 0 }
    public var endIndex: Int { tasks.count }
    public subscript(index: Int) -> TransferTask { tasks[index] }

    /// Adds the task of a row of `task`, read with `SELECT *`.
    mutating func append(_ row: ResultRow) throws(StoreError) {
        let id = TaskID(row.integer(TaskColumn.id.rawValue))
        lastID = id
        do throws(StoreError) {
            tasks.append(try TaskRow(row).task())
        } catch .unreadable {
            unreadable.append(id)
        } catch {
            throw error
        }
    }
}

extension Connection {
    /// The tasks that a statement with `SELECT *` finds.
    func tasks(_ sql: StaticString, _ values: Value...) throws(StoreError) -> ReadableTasks {
        var found = ReadableTasks()
        try forEach(sql, values) { row throws(StoreError) in try found.append(row) }
        return found
    }
}

/// The part of a task's damaged row that is still readable.
public struct DamagedTask: Hashable, Sendable {
    public let id: TaskID
    public let transferID: TransferID?
    let place: QueuePlace

    public var owner: Owner { place.owner }
    public var state: TaskState { place.state }
}

extension TaskTable {
    /// The readable part of a task's row; nil if there is no such task, or if not even its place in the queue is
    /// readable.
    public func findDamaged(_ id: TaskID) throws(StoreError) -> DamagedTask? {
        let found = try connection.first(
            """
            SELECT owner, group_name, state, priority, host, group_id, batch_id, profile, transfer_id
            FROM task WHERE id = ?1
            """, Value(id)
        ) { row throws(StoreError) -> DamagedTask? in
            guard let place = try? QueuePlace(row, of: id) else { return nil }
            return DamagedTask(id: id, transferID: row.optionalInteger(8).map { TransferID($0) }, place: place)
        }
        return found ?? nil
    }
}

extension TaskTable where Store == StoreTransaction {
    /// Cancels an unfinished task whose row is damaged. No hook or webhook follows: the row does not say which.
    public func cancel(_ task: DamagedTask, at time: Timestamp) throws(StoreError) {
        try store.requireFree(task.id)
        try store.cooldowns.expire(causedBy: [task.id])
        try store.reservations.release(of: task.id)
        try connection.run("DELETE FROM calendar WHERE task_id = ?1", Value(task.id))
        try connection.run(
            "UPDATE task SET state = 'cancelled', wait_reason = NULL, wait_until = NULL, finished_at = ?2 WHERE id = ?1",
            Value(task.id), Value(time))
        try store.dependencies.recordOutcome(.cancelled, of: task.id)
        var cancelled = task.place
        cancelled.state = .cancelled
        store.count(task.place, by: -1)
        store.count(cancelled, by: 1)
    }

    /// Pauses unfinished tasks whose rows are unreadable, so that queue and timers continue without them. Once `xferd
    /// --recover` has mended the rows, their users can resume them.
    public func setAside(_ unreadable: [TaskID]) throws(StoreError) {
        for id in unreadable {
            let place = try connection.first(
                "SELECT owner, group_name, state, priority, host, group_id, batch_id, profile FROM task WHERE id = ?1",
                Value(id)
            ) { try? QueuePlace($0, of: id) }
            try connection.run("DELETE FROM calendar WHERE task_id = ?1", Value(id))
            guard case let place?? = place, !place.state.isTerminal else {
                try connection.run("UPDATE task SET wait_reason = NULL, wait_until = NULL WHERE id = ?1", Value(id))
                continue
            }
            try connection.run(
                "UPDATE task SET state = 'paused', wait_reason = NULL, wait_until = NULL WHERE id = ?1", Value(id))
            var paused = place
            paused.state = .paused
            store.count(place, by: -1)
            store.count(paused, by: 1)
        }
    }
}
