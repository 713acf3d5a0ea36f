public import XferModel

extension EventTable where Store == StoreTransaction {
    /// Appends the event with the next number; `onCommit` gets it once it is durable. The event of a task's end is to
    /// be appended after the update that ends it, and any event of a task before its row is deleted: webhooks follow
    /// both.
    ///
    /// Numbers have no gaps and are never reused: AUTOINCREMENT keeps its counter in a table that is rolled back with
    /// the event and that trimming does not change.
    @discardableResult
    public func append(
        _ payload: EventPayload, taskID: TaskID? = nil, owner: Owner? = nil, at time: Timestamp
    ) throws(StoreError) -> Event {
        let event = NewEvent(payload, taskID: taskID, owner: owner)
        return try append(ofOneStatement: [event], at: time)
    }

    /// Appends several events in order.
    public func append(_ events: [NewEvent], at time: Timestamp) throws(StoreError) {
        var rest = events[...]
        while let first = rest.first {
            let alike = rest.prefix { $0.taskID != nil && $0.owner == first.owner && $0.payload == first.payload }
            if alike.count > rowsOfOneStatement {
                try append(alike: alike, first, at: time)
                rest = rest.dropFirst(alike.count)
            } else {
                let share = rest.prefix(rest.count < rowsOfOneStatement ? 1 : rowsOfOneStatement)
                try append(ofOneStatement: share, at: time)
                rest = rest.dropFirst(share.count)
            }
        }
    }

    /// Appends series, in order. Each is one row, which has the number and the type of its last event. So a row is
    /// found by any number before that, and a page of events may begin or end in the middle of one.
    public func append(_ series: [EventSeries], at time: Timestamp) throws(StoreError) {
        var last = try lastSeq()
        var seq = last
        var rest = series.filter { !$0.payloads.isEmpty }[...]
        while !rest.isEmpty {
            let share = rest.prefix(rest.count < rowsOfOneStatement ? 1 : rowsOfOneStatement)
            rest = rest.dropFirst(share.count)
            var values: [Value] = []
            values.reserveCapacity(share.count * 7)
            for one in share {
                last = last.addingSaturated(Int64(clamping: one.payloads.count))
                values += [
                    .integer(last), Value(time), Value(one.payloads.last?.type.rawValue), Value(one.taskID),
                    Value(one.owner),
                    .text(try EventText.encode(one.payloads)), Value(one.payloads.count),
                ]
            }
            if share.count == 1 {
                try connection.run("one event series", composed: Self.insertion(ofSeries: 1), values)
            } else {
                try connection.run("event series", composed: Self.insertion(ofSeries: share.count), values)
            }
        }
        for one in series {
            for payload in one.payloads {
                seq = seq.addingSaturated(1)
                let event = Event(seq: seq, time: time, taskID: one.taskID, owner: one.owner, payload: payload)
                store.remember(event)
                try store.deliveries.record(of: event)
            }
        }
    }

    /// Appends events that differ only in their tasks, as verbs over many tasks record them.
    private func append(alike new: ArraySlice<NewEvent>, _ one: NewEvent, at time: Timestamp) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO event (time, type, task_id, owner, payload)
            SELECT ?1, ?2, value, ?3, ?4 FROM json_each(?5)
            """,
            Value(time), Value(one.payload.type), Value(one.owner), .text(try EventText.encode(one.payload)),
            .text(JSONText.array(new.compactMap { $0.taskID?.rawValue })))
        try keepForFollowers(new, at: time)
    }

    /// Returns the last one.
    @discardableResult
    private func append(ofOneStatement new: ArraySlice<NewEvent>, at time: Timestamp) throws(StoreError) -> Event {
        var values: [Value] = []
        values.reserveCapacity(new.count * 5)
        for event in new {
            values.append(Value(time))
            values.append(Value(event.payload.type))
            values.append(Value(event.taskID))
            values.append(Value(event.owner))
            values.append(.text(try EventText.encode(event.payload)))
        }
        if new.count == 1 {
            try connection.run("one event", composed: Self.insertion(ofEvents: 1), values)
        } else {
            try connection.run("events", composed: Self.insertion(ofEvents: new.count), values)
        }
        return try keepForFollowers(new, at: time)
    }

    /// Keeps the events that were inserted last for subscribers; returns the last one.
    @discardableResult
    private func keepForFollowers(_ new: ArraySlice<NewEvent>, at time: Timestamp) throws(StoreError) -> Event {
        let first = connection.lastInsertedID - Int64(new.count) + 1
        var last = new[new.startIndex].numbered(first, at: time)
        store.remember(last)
        try store.deliveries.record(of: last)
        for index in new.indices.dropFirst() {
            last = new[index].numbered(first + Int64(clamping: index - new.startIndex), at: time)
            store.remember(last)
            try store.deliveries.record(of: last)
        }
        return last
    }

    private static func insertion(ofEvents count: Int) -> String {
        "INSERT INTO event (time, type, task_id, owner, payload) VALUES " + rows(of: 5, count: count)
    }

    private static func insertion(ofSeries count: Int) -> String {
        "INSERT INTO event (seq, time, type, task_id, owner, payload, count) VALUES " + rows(of: 7, count: count)
    }

    /// Removes at most `step` of the oldest rows of events that are beyond `maxCount` or older than `olderThan`,
    /// but only events older than 24 h; returns their number. Call it again, in a write of its own, until it returns 0.
    public func trim(
        maxCount: Int64, olderThan: Timestamp, now: Timestamp, step: Int = 1000
    ) throws(StoreError) -> Int {
        let untouchable = now.advanced(by: .seconds(-86_400))
        let beyondCount = try lastSeq().subtractingSaturated(maxCount)
        // An event is at least as old as its successors, whatever the clock was: one time in the future does not keep
        // them.
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

/// Events of one task that follow each other, without numbers and time.
public struct EventSeries: Sendable {
    /// The only types of events before the last one, so that other types are found without reading every series.
    static let typesBeforeTheLast: Set<EventType> = [.taskStarted, .taskResponse]

    let payloads: [EventPayload]
    let taskID: TaskID
    let owner: Owner

    public init(_ payloads: [EventPayload], taskID: TaskID, owner: Owner) {
        InvariantChecks.require(
            payloads.dropLast().allSatisfy { Self.typesBeforeTheLast.contains($0.type) },
            "an event before the last one of a series has a type that no query looks for")
        self.payloads = payloads
        self.taskID = taskID
        self.owner = owner
    }
}

/// An event without its number and its time.
public struct NewEvent: Sendable {
    let payload: EventPayload
    let taskID: TaskID?
    let owner: Owner?

    public init(_ payload: EventPayload, taskID: TaskID? = nil, owner: Owner? = nil) {
        self.payload = payload
        self.taskID = taskID
        self.owner = owner
    }

    func numbered(_ seq: Int64, at time: Timestamp) -> Event {
        Event(seq: seq, time: time, taskID: taskID, owner: owner, payload: payload)
    }
}
