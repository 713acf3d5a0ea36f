public import XferModel

extension StoreReader {
    /// Events with `seq` above `since`, ascending; nil filters match everything.
    ///
    /// - Parameter owner: only events about this owner's tasks; nil means all owners and the service's own events.
    public func events(
        since: Int64, types: Set<EventType>? = nil, taskIDs: Set<TaskID>? = nil, owner: Owner? = nil, limit: Int
    ) throws(StoreError) -> [Event] {
        var sql = "SELECT seq, time, task_id, owner, payload FROM event"
        var values: [Value] = [.integer(since), Value(limit)]
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        if taskIDs != nil { sql += " INDEXED BY event_task" }
        sql += " WHERE seq > ?1"
        if let taskIDs {
            let list = JSONText.array(taskIDs.map(\.rawValue))
            sql += " AND task_id IN (SELECT value FROM json_each(\(parameter(.text(list)))))"
        }
        if let types {
            let list = JSONText.array(types.map(\.rawValue))
            sql += " AND type IN (SELECT value FROM json_each(\(parameter(.text(list)))))"
        }
        if let owner { sql += " AND owner = \(parameter(Value(owner)))" }
        sql += " ORDER BY seq LIMIT ?2"
        return try connection.all(composed: sql, values) { row throws(StoreError) in
            guard let payload = JSONText.decode(EventPayload.self, from: row.text(4)) else {
                throw StoreError.unreadable(table: "event", id: row.integer(0), column: "payload")
            }
            return Event(
                seq: row.integer(0), time: row.time(1), taskID: row.optionalInteger(2).map { TaskID($0) },
                owner: row.optionalInteger(3).map { Owner(uid: UInt32(truncatingIfNeeded: $0)) }, payload: payload)
        }
    }

    /// The oldest event kept, nil when there is none.
    public func firstSeq() throws(StoreError) -> Int64? {
        try connection.first("SELECT min(seq) FROM event") { $0.optionalInteger(0) } ?? nil
    }

    /// When the newest event happened, by the clock of that time; nil when there is none.
    public func lastEventTime() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT time FROM event ORDER BY seq DESC LIMIT 1") { $0.time(0) }
    }

    /// The highest number ever given, 0 before the first; trimming does not lower it.
    public func lastSeq() throws(StoreError) -> Int64 {
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'event'") { $0.integer(0) } ?? 0
    }
}
