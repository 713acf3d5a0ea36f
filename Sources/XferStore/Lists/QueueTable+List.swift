public import XferModel

extension QueueTable {
    /// One page of queued tasks: by priority, then lane by lane in the order of their turns, each lane in the order in
    /// which its tasks start.
    ///
    /// The cursor is opaque and bound to filter and order. It is a place and not a task, so that it stays valid when
    /// the task before it starts. A task or lane that moves between two pages may appear twice or be left out.
    public func list(
        _ filter: TaskQuery, order: QueueOrder, limit: Int, cursor: String? = nil
    ) throws(StoreError) -> TaskPage {
        try list(filter, order: order, within: PageBounds(limit: limit), cursor: cursor)
    }

    public func list(
        _ filter: TaskQuery, order: QueueOrder, within bounds: PageBounds, cursor: String? = nil
    ) throws(StoreError) -> TaskPage {
        try store.settleHosts()
        try store.settleTurns()
        let words = ["queue", order.rawValue] + filter.words
        let start = try cursor.map { text throws(StoreError) in try QueuePlaceCursor(text, of: words) }
        let restrictions = try store.tasks.restrictions(of: filter)
        guard restrictions.allSatisfy({ !$0.allowed.isEmpty }), bounds.limit > 0 else {
            return TaskPage(tasks: [])
        }
        // One more than requested, to know whether there is another page.
        var walk = QueueWalk(
            filter: filter, restrictions: restrictions, order: order, wanted: bounds.limit.addingSaturated(1),
            scan: bounds.scan)
        for priority in Priority.allCases.map(\.rawValue).sorted(by: >) where !walk.isOver {
            let level = Int64(clamping: priority)
            if let start, level > start.priority { continue }
            try append(level, after: start, to: &walk)
        }
        let suffix = QueuePlaceCursor.suffix(of: words)
        let places = walk.places.prefix(bounds.limit)
        let ids = places.map { TaskID($0.id ?? 0) }
        let cursors = Dictionary(zip(ids, places.map { $0.text + suffix }), uniquingKeysWith: { $1 })
        var page = try store.tasks.page(of: ids, bytes: bounds.bytes) { cursors[$0] ?? "" }
        if page.places.count < ids.count || walk.places.count > bounds.limit {
            page.nextCursor = page.places.last?.cursor
        } else if walk.hasMore, let reached = walk.reached {
            page.nextCursor = reached.text + suffix
        }
        return page
    }

    /// Walks the lanes of a priority.
    private func append(
        _ level: Int64, after start: QueuePlaceCursor?, to walk: inout QueueWalk
    ) throws(StoreError) {
        var start = start?.priority == level ? start : nil
        var first = start?.turn ?? .min
        if let ended = start, ended == ended.behindLane(of: walk.order) {
            // The lane was walked to its end.
            guard first < .max else { return }
            first += 1
            start = nil
        }
        let count = min(walk.wanted, 1000)
        while !walk.isOver {
            let lanes = try connection.all(
                """
                SELECT turn, group_id, profile, host FROM host_queue
                WHERE priority = ?1 AND turn >= ?2 ORDER BY turn LIMIT ?3
                """, .integer(level), .integer(first), Value(count)
            ) { (turn: $0.integer(0), group: $0.integer(1), profile: $0.text(2), host: $0.text(3)) }
            for lane in lanes {
                if walk.isOver { return }
                guard try mayMatch(walk, group: lane.group, host: lane.host) else {
                    walk.scan -= 1
                    walk.reached = QueuePlaceCursor(priority: level, turn: lane.turn, rank: nil, id: nil)
                        .behindLane(of: walk.order)
                    continue
                }
                let key: [Value] = [.integer(level), .integer(lane.group), .text(lane.profile), .text(lane.host)]
                let after = lane.turn == start?.turn ? start : nil
                // A lane without a matching task costs as much as a task.
                let lane = QueuePlaceCursor(priority: level, turn: lane.turn, rank: after?.rank, id: after?.id)
                try append(key, at: lane, to: &walk)
            }
            // Turns of a priority differ: the next lanes begin one above.
            guard lanes.count == count, let last = lanes.last?.turn, last < .max else { return }
            first = last + 1
        }
    }

    /// True if the filter admits a lane of this group (0 is none) and host.
    private func mayMatch(_ walk: QueueWalk, group: Int64, host: String) throws(StoreError) -> Bool {
        if let hosts = walk.hosts, !hosts.contains(.text(host)) { return false }
        guard walk.filter.groups != nil || walk.filter.owners != nil else { return true }
        guard let key = try store.groups.key(of: group) else { return walk.filter.groups == nil }
        return walk.filter.groups?.contains(key.name) ?? true && walk.filter.owners?.contains(key.owner) ?? true
    }

    /// Walks a lane from its place on.
    private func append(
        _ lane: [Value], at place: QueuePlaceCursor, to walk: inout QueueWalk
    ) throws(StoreError) {
        var place = place
        walk.scan -= 1
        while true {
            let count = max(1, min(walk.step, walk.scan))
            let rows = try rows(of: lane, walk, after: place, limit: count)
            for row in rows {
                walk.scan -= 1
                place = QueuePlaceCursor(priority: place.priority, turn: place.turn, rank: row.rank, id: row.id)
                walk.reached = place
                if row.matches { walk.places.append(place) }
                if walk.places.count >= walk.wanted { return }
            }
            if rows.count < count {
                // Behind the lane's last task.
                walk.reached = place.behindLane(of: walk.order)
                return
            }
            if walk.isOver { return }
        }
    }

    private func rows(
        of lane: [Value], _ walk: QueueWalk, after place: QueuePlaceCursor, limit: Int
    ) throws(StoreError) -> [(id: Int64, rank: Int64, matches: Bool)] {
        var values = lane + [Value(limit)]
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let (comparison, direction) = walk.order == .fifo ? (">", "ASC") : ("<", "DESC")
        var range = ""
        if let rank = place.rank, let id = place.id {
            range = " AND (rank, id) \(comparison) (\(parameter(.integer(rank))), \(parameter(.integer(id))))"
        }
        var conditions = walk.restrictions.map { restriction in
            "\(restriction.dimension.column) IN (SELECT value FROM json_each(\(parameter(.text(restriction.list)))))"
        }
        conditions += walk.filter.bounds.map { $0.sql(parameter($0.value)) }
        return try connection.all(
            composed: """
                SELECT id, rank, \(conditions.isEmpty ? "1" : conditions.joined(separator: " AND "))
                FROM task INDEXED BY task_queue
                WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND profile IS nullif(?3, '') AND host = ?4\(range)
                ORDER BY rank \(direction), id \(direction) LIMIT ?5
                """, values
        ) { (id: $0.integer(0), rank: $0.integer(1), matches: $0.flag(2)) }
    }
}

/// The findings of a walk over the lanes, and its bounds.
private struct QueueWalk {
    let filter: TaskQuery
    let restrictions: [Restriction]
    let hosts: Set<Value>?
    let order: QueueOrder
    /// The number of matching tasks after which the walk ends.
    let wanted: Int
    /// The number of rows and lanes that may still be inspected.
    var scan: Int
    var places: [QueuePlaceCursor] = []
    /// The place after the last inspected row.
    var reached: QueuePlaceCursor?

    init(filter: TaskQuery, restrictions: [Restriction], order: QueueOrder, wanted: Int, scan: Int) {
        self.filter = filter
        self.restrictions = restrictions
        self.order = order
        self.wanted = wanted
        self.scan = max(1, scan)
        hosts = restrictions.first { $0.dimension == .host }?.allowed
    }

    /// The number of rows that are read at once: no more than are needed if all match.
    var step: Int {
        restrictions.isEmpty && filter.bounds.isEmpty ? wanted - places.count : min(500, max(50, wanted))
    }

    /// True if a bound has ended the walk.
    var isOver: Bool { places.count >= wanted || hasMore }

    /// True if rows were left uninspected.
    var hasMore: Bool { scan <= 0 }
}

/// The place behind a queued task: its lane's turn, and its rank within the lane; without one, before the lane's first.
private struct QueuePlaceCursor: Equatable {
    let priority: Int64
    let turn: Int64
    let rank: Int64?
    let id: Int64?

    init(priority: Int64, turn: Int64, rank: Int64?, id: Int64?) {
        (self.priority, self.turn, self.rank, self.id) = (priority, turn, rank, id)
    }

    /// - Throws: `invalidCursor` if the text is malformed or was made with other `words`.
    init(_ text: String, of words: [String]) throws(StoreError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.dropLast().compactMap { Int64($0, radix: 36) }
        guard parts.count == 5, numbers.count == 4, let binding = UInt64(parts[4], radix: 36),
            binding == ListCursor.binding(words)
        else { throw .invalidCursor }
        self.init(priority: numbers[0], turn: numbers[1], rank: numbers[2], id: numbers[3])
    }

    /// The cursor without the `suffix` that binds it to a filter's text.
    var text: String {
        [priority, turn, rank ?? 0, id ?? 0].map { String($0, radix: 36) }.joined(separator: ".") + "."
    }

    static func suffix(of words: [String]) -> String { String(ListCursor.binding(words), radix: 36) }

    /// The place behind every task that the lane can have.
    func behindLane(of order: QueueOrder) -> Self {
        let end = order == .fifo ? Int64.max : .min
        return Self(priority: priority, turn: turn, rank: end, id: end)
    }
}
