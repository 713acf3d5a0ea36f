public import XferModel

extension StoreReader {
    /// One page of queued tasks: by priority, then lane by lane in the order of their turns, each lane in the order in
    /// which its tasks start.
    ///
    /// The cursor is opaque and bound to filter and order. It is a place and not a task, so that it stays valid when the
    /// task before it starts. A task or lane that moves between two pages may appear twice or be left out.
    public func listQueue(
        _ filter: TaskQuery, order: QueueOrder, limit: Int, cursor: String? = nil
    ) throws(StoreError) -> TaskPage {
        try settleHosts()
        try settleTurns()
        let words = ["queue", order.rawValue] + filter.restrictions.flatMap { [$0.dimension.rawValue, $0.list] }
        let start = try cursor.map { text throws(StoreError) in try QueuePlaceCursor(text, of: words) }
        guard filter.restrictions.allSatisfy({ !$0.allowed.isEmpty }), limit > 0 else { return TaskPage(tasks: []) }
        var places: [QueuePlaceCursor] = []
        // One more than asked for, to know whether there is another page.
        for priority in Priority.allCases.map(\.rawValue).sorted(by: >) where places.count <= limit {
            let level = Int64(clamping: priority)
            if let start, level > start.priority { continue }
            try append(level, filter, order, after: start, upTo: limit + 1, to: &places)
        }
        var page = try page(of: places.prefix(limit).map { TaskID($0.id) })
        if places.count > limit, let last = places.prefix(limit).last { page.nextCursor = last.text(of: words) }
        return page
    }

    private func append(
        _ level: Int64, _ filter: TaskQuery, _ order: QueueOrder, after start: QueuePlaceCursor?, upTo count: Int,
        to places: inout [QueuePlaceCursor]
    ) throws(StoreError) {
        let start = start?.priority == level ? start : nil
        var first = start?.turn ?? .min
        while places.count < count {
            let lanes = try connection.all(
                """
                SELECT turn, group_id, profile, host FROM host_queue
                WHERE priority = ?1 AND turn >= ?2 ORDER BY turn LIMIT ?3
                """, .integer(level), .integer(first), Value(count)
            ) { (turn: $0.integer(0), group: $0.integer(1), profile: $0.text(2), host: $0.text(3)) }
            for lane in lanes where places.count < count {
                let key: [Value] = [.integer(level), .integer(lane.group), .text(lane.profile), .text(lane.host)]
                let after = lane.turn == start?.turn ? start : nil
                places += try entries(of: key, filter, order, after: after, limit: count - places.count).map {
                    QueuePlaceCursor(priority: level, turn: lane.turn, rank: $0.rank, id: $0.id)
                }
            }
            // Turns of a priority differ: the next lanes begin one above.
            guard lanes.count == count, let last = lanes.last?.turn, last < .max else { return }
            first = last + 1
        }
    }

    private func entries(
        of lane: [Value], _ filter: TaskQuery, _ order: QueueOrder, after start: QueuePlaceCursor?, limit: Int
    ) throws(StoreError) -> [(id: Int64, rank: Int64)] {
        var values = lane + [Value(limit)]
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let (comparison, direction) = order == .fifo ? (">", "ASC") : ("<", "DESC")
        var conditions = ""
        if let start {
            conditions =
                " AND (rank, id) \(comparison) (\(parameter(.integer(start.rank))), \(parameter(.integer(start.id))))"
        }
        for restriction in filter.restrictions {
            let list = parameter(.text(restriction.list))
            // The plus keeps SQLite from choosing another index.
            conditions += " AND +\(restriction.dimension.column) IN (SELECT value FROM json_each(\(list)))"
        }
        return try connection.all(
            composed: """
                SELECT id, rank FROM task INDEXED BY task_queue
                WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND profile IS nullif(?3, '') AND host = ?4\(conditions)
                ORDER BY rank \(direction), id \(direction) LIMIT ?5
                """, values
        ) { (id: $0.integer(0), rank: $0.integer(1)) }
    }
}

/// The place behind a queued task: its lane's turn, and its rank within the lane.
private struct QueuePlaceCursor {
    let priority: Int64
    let turn: Int64
    let rank: Int64
    let id: Int64

    init(priority: Int64, turn: Int64, rank: Int64, id: Int64) {
        (self.priority, self.turn, self.rank, self.id) = (priority, turn, rank, id)
    }

    /// - Throws: `invalidCursor` if the text is malformed or was made with other words.
    init(_ text: String, of words: [String]) throws(StoreError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.dropLast().compactMap { Int64($0, radix: 36) }
        guard parts.count == 5, numbers.count == 4, let binding = UInt64(parts[4], radix: 36),
            binding == ListCursor.binding(words)
        else { throw .invalidCursor }
        self.init(priority: numbers[0], turn: numbers[1], rank: numbers[2], id: numbers[3])
    }

    func text(of words: [String]) -> String {
        let numbers = [priority, turn, rank, id].map { String($0, radix: 36) }
        return (numbers + [String(ListCursor.binding(words), radix: 36)]).joined(separator: ".")
    }
}
