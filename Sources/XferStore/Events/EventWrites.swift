public import XferModel

extension StoreTransaction {
    /// Gives the event the next number; `onCommit` gets it once it is durable.
    ///
    /// Numbers have no gaps and are never given twice: AUTOINCREMENT counts on in a table that a rollback takes back with
    /// the event, and that trimming leaves alone.
    @discardableResult
    public func append(
        _ payload: EventPayload, taskID: TaskID? = nil, owner: Owner? = nil, at time: Timestamp
    ) throws(StoreError) -> Event {
        try connection.run(
            "INSERT INTO event (time, type, task_id, owner, payload) VALUES (?1, ?2, ?3, ?4, ?5)",
            Value(time), Value(payload.type), Value(taskID), Value(owner), .text(try EventText.encode(payload)))
        let event = Event(
            seq: connection.lastInsertedID, time: time, taskID: taskID, owner: owner, payload: payload)
        remember(event)
        return event
    }

    /// Removes at most `step` of the oldest events that are beyond `maxCount` or older than `olderThan`, and in any case
    /// older than 24 h; answers how many. Call again, in a write of its own, until 0.
    public func trimEvents(
        maxCount: Int64, olderThan: Timestamp, now: Timestamp, step: Int = 1000
    ) throws(StoreError) -> Int {
        let untouchable = now.advanced(by: .seconds(-86_400))
        let beyondCount = try lastSeq() - maxCount
        // An event is at least as old as one that came after it, whatever the clock said then: one time in the future
        // does not keep its successors.
        let last = try connection.first(
            """
            SELECT max(seq) FROM (SELECT seq, time FROM event ORDER BY seq LIMIT ?1)
            WHERE time < ?2 AND (time < ?3 OR seq <= ?4)
            """,
            Value(step), Value(untouchable), Value(olderThan), .integer(beyondCount)
        ) { $0.optionalInteger(0) }
        guard let last, let last else { return 0 }
        try connection.run("DELETE FROM event WHERE seq <= ?1", .integer(last))
        return connection.changeCount
    }
}
