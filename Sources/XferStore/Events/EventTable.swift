public import XferModel

/// The events: `event`.
public struct EventTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Events with `seq` above `since`, ascending; nil filters match everything.
    ///
    /// - Parameter owner: only events about this owner's tasks; nil means all owners and the service's own events.
    public func list(
        since: Int64, types: Set<EventType>? = nil, taskIDs: Set<TaskID>? = nil, owner: Owner? = nil, limit: Int
    ) throws(StoreError) -> [Event] {
        let bounds = PageBounds(limit: limit, scan: .max, bytes: .max)
        return try page(since: since, types: types, taskIDs: taskIDs, owner: owner, within: bounds).events
    }

    /// A page of events that also ends when events with `bounds.scan` numbers were inspected or `bounds.bytes` of text
    /// were read.
    ///
    /// - Returns: the events, and the number from which the next page continues: at the end that of the newest event.
    public func page(
        since: Int64, types: Set<EventType>? = nil, taskIDs: Set<TaskID>? = nil, owner: Owner? = nil,
        within bounds: PageBounds
    ) throws(StoreError) -> (events: [Event], reached: Int64) {
        let newest = try lastSeq()
        guard bounds.limit > 0, since < newest else { return ([], min(since, newest)) }
        var end = min(newest, since.addingSaturated(Int64(clamping: max(1, bounds.scan))))
        // A row with a series is read whole: it has the number of its last event.
        let row = try connection.first("SELECT seq FROM event WHERE seq >= ?1 ORDER BY seq LIMIT 1", .integer(end)) {
            $0.integer(0)
        }
        end = row ?? newest
        var (found, last, bytes): ([Event], Int64, Int) = ([], since, 0)
        let step = min(bounds.limit, 200)
        while last < end {
            let rows = try rows(ofEventsSince: last, upTo: end, types, taskIDs, owner, limit: step)
            for row in rows {
                for event in row.events where event.seq > since && types?.contains(event.type) ?? true {
                    found.append(event)
                    if found.count == bounds.limit { return (found, event.seq) }
                }
                last = max(last, row.events.last?.seq ?? last)
                bytes = bytes.addingSaturated(row.bytes)
                if bytes >= bounds.bytes { return (found, last) }
            }
            // Rows of which nothing is requested must not look like the end.
            if rows.count < step { break }
        }
        return (found, max(last, end))
    }

    /// True if the task had failed, or was cancelled, before this event.
    public func hasEnded(_ task: TaskID, before seq: Int64) throws(StoreError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM event INDEXED BY event_task
            WHERE task_id = ?1 AND seq < ?2 AND type IN ('task.failed', 'task.cancelled') LIMIT 1
            """, Value(task), .integer(seq)
        ) { _ in true } ?? false
    }

    /// The events of each row whose last one is above `since`, and of which one may match the request.
    private func rows(
        ofEventsSince since: Int64, upTo end: Int64, _ types: Set<EventType>?, _ taskIDs: Set<TaskID>?, _ owner: Owner?,
        limit: Int
    ) throws(StoreError) -> [(events: [Event], bytes: Int)] {
        var sql = "SELECT seq, time, task_id, owner, payload, count FROM event"
        var values: [Value] = [.integer(since), Value(limit), .integer(end)]
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        if taskIDs != nil { sql += " INDEXED BY event_task" }
        sql += " WHERE seq > ?1 AND seq <= ?3"
        if let taskIDs {
            let list = JSONText.array(taskIDs.map(\.rawValue))
            sql += " AND task_id IN (SELECT value FROM json_each(\(parameter(.text(list)))))"
        }
        if let types {
            let list = JSONText.array(types.map(\.rawValue))
            // The type of a series is that of its last event.
            let series = types.isDisjoint(with: EventSeries.typesBeforeTheLast) ? "" : "count > 1 OR "
            sql += " AND (\(series)type IN (SELECT value FROM json_each(\(parameter(.text(list))))))"
        }
        if let owner { sql += " AND owner = \(parameter(Value(owner)))" }
        sql += " ORDER BY seq LIMIT ?2"
        return try connection.all(composed: sql, values) { row throws(StoreError) in
            let text = row.text(4)
            guard let payloads = EventText.decode(text, count: row.integer(5)) else {
                throw StoreError.unreadable(table: "event", id: row.integer(0), column: "payload")
            }
            let (time, task) = (row.time(1), row.optionalInteger(2).map { TaskID($0) })
            let owner = row.optionalInteger(3).map { Owner(uid: UInt32(truncatingIfNeeded: $0)) }
            let first = row.integer(0).subtractingSaturated(row.integer(5)).addingSaturated(1)
            let events = payloads.enumerated().map { index, payload in
                Event(
                    seq: first.addingSaturated(Int64(clamping: index)), time: time, taskID: task, owner: owner,
                    payload: payload)
            }
            return (events, text.utf8.count + 64)
        }
    }

    /// The latest event of a task of one of these types, none of which is written in a series; nil if none is kept.
    public func last(of id: TaskID, types: Set<EventType>) throws(StoreError) -> Event? {
        try connection.first(
            """
            SELECT seq, time, owner, payload FROM event INDEXED BY event_task
            WHERE task_id = ?1 AND type IN (SELECT value FROM json_each(?2)) ORDER BY seq DESC LIMIT 1
            """, Value(id), .text(JSONText.array(types.map(\.rawValue)))
        ) { row throws(StoreError) in
            guard let payload = EventText.decode(row.text(3), count: 1)?.first else {
                throw StoreError.unreadable(table: "event", id: row.integer(0), column: "payload")
            }
            let owner = row.optionalInteger(2).map { Owner(uid: UInt32(truncatingIfNeeded: $0)) }
            return Event(seq: row.integer(0), time: row.time(1), taskID: id, owner: owner, payload: payload)
        }
    }

    /// The oldest event kept, nil when there is none.
    public func firstSeq() throws(StoreError) -> Int64? {
        try connection.first("SELECT seq - count + 1 FROM event ORDER BY seq LIMIT 1") { $0.integer(0) }
    }

    /// The time of the newest event, by the clock of that time; nil when there is none.
    public func lastTime() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT time FROM event ORDER BY seq DESC LIMIT 1") { $0.time(0) }
    }

    /// The highest number ever given, 0 before the first; trimming does not lower it.
    public func lastSeq() throws(StoreError) -> Int64 {
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'event'") { $0.integer(0) } ?? 0
    }
}
