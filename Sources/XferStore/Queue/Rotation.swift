public import XferModel

/// Whose turn it is: the lanes of a priority rotate, so that 100,000 tasks for one host starve nobody.
///
/// Two levels keep that cheap: `host_queue` has each lane's turn, `group_queue` that of each group's first lane. A paused
/// group is one row there, and a group at its limit is one that is passed over, however many lanes it has.
extension StoreReader {
    /// The lane whose turn it is among those that are not cooling down and not of a paused group, these groups or hosts.
    ///
    /// Reads the groups in the order of their first lanes until no other can have an earlier turn: that is one group,
    /// unless the first lanes are of excluded hosts.
    public func nextLane(
        priority: Priority, withoutGroups groups: Set<GroupKey> = [], withoutHosts hosts: Set<String> = []
    ) throws(StoreError) -> QueueLane? {
        try settleHosts()
        var ids: [Int64] = []
        for group in groups { if let id = try groupID(of: group) { ids.append(id) } }
        let hostList = JSONText.array(hosts.sorted())
        let groupList = JSONText.array(ids)
        var best: LaneFront?
        var (turn, last) = (Int64.min, Int64.min)
        var page = 2
        while true {
            let fronts = try fronts(
                priority, afterTurn: turn, group: last, limit: page, withoutGroups: groupList, withoutHosts: hostList)
            for front in fronts {
                if let best, let found = best.laneTurn, found <= front.groupTurn { return try lane(of: best, priority) }
                guard let found = front.laneTurn else { continue }
                if found < best?.laneTurn ?? .max { best = front }
            }
            guard let end = fronts.last, fronts.count == page else {
                return try best.flatMap { front throws(StoreError) in try lane(of: front, priority) }
            }
            (turn, last) = (end.groupTurn, end.group)
            page = min(page * 4, 512)
        }
    }

    /// The tasks of this lane that start next, in order.
    public func heads(of lane: QueueLane, order: QueueOrder, limit: Int) throws(StoreError) -> [TaskID] {
        guard let group = try groupID(of: lane.group) else { return [] }
        let priority = Value.integer(Int64(lane.priority.rawValue))
        return switch order {
        case .fifo:
            try connection.all(
                """
                SELECT id FROM task INDEXED BY task_queue
                WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND host = ?3 ORDER BY rank, id LIMIT ?4
                """,
                priority, .integer(group), .text(lane.host), Value(limit)
            ) { TaskID($0.integer(0)) }
        case .lifo:
            try connection.all(
                """
                SELECT id FROM task INDEXED BY task_queue
                WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND host = ?3
                ORDER BY rank DESC, id DESC LIMIT ?4
                """,
                priority, .integer(group), .text(lane.host), Value(limit)
            ) { TaskID($0.integer(0)) }
        }
    }

    // MARK: Groups' first lanes

    /// A group, and the first of its lanes that is not excluded.
    private struct LaneFront {
        let group: Int64
        let groupTurn: Int64
        /// Nil when all its lanes are excluded or cooling down.
        let laneTurn: Int64?
        let host: String?
    }

    private func fronts(
        _ priority: Priority, afterTurn turn: Int64, group: Int64, limit: Int, withoutGroups groups: String,
        withoutHosts hosts: String
    ) throws(StoreError) -> [LaneFront] {
        try connection.all(
            """
            SELECT q.group_id, q.turn,
                (SELECT l.turn FROM host_queue l INDEXED BY host_turn
                    WHERE l.priority = ?1 AND l.group_id = q.group_id AND l.cooling = 0
                        AND l.host NOT IN (SELECT value FROM json_each(?2)) ORDER BY l.turn, l.host LIMIT 1),
                (SELECT l.host FROM host_queue l INDEXED BY host_turn
                    WHERE l.priority = ?1 AND l.group_id = q.group_id AND l.cooling = 0
                        AND l.host NOT IN (SELECT value FROM json_each(?2)) ORDER BY l.turn, l.host LIMIT 1)
            FROM group_queue q INDEXED BY group_turn
            WHERE q.priority = ?1 AND q.held = 0 AND (q.turn, q.group_id) > (?3, ?4)
                AND q.group_id NOT IN (SELECT value FROM json_each(?5))
            ORDER BY q.turn, q.group_id LIMIT ?6
            """,
            .integer(Int64(priority.rawValue)), .text(hosts), .integer(turn), .integer(group), .text(groups),
            Value(limit)
        ) {
            LaneFront(
                group: $0.integer(0), groupTurn: $0.integer(1), laneTurn: $0.optionalInteger(2),
                host: $0.optionalText(3))
        }
    }

    private func lane(of front: LaneFront, _ priority: Priority) throws(StoreError) -> QueueLane? {
        guard let host = front.host else { return nil }
        return QueueLane(priority: priority, group: try groupKey(of: front.group), host: host)
    }
}

extension StoreTransaction {
    /// Puts the lane at the end of the rotation.
    public func markServed(_ lane: QueueLane) throws(StoreError) {
        try settleHosts()
        guard let group = try groupID(of: lane.group) else { return }
        try setTurn(try nextTurn(lane.priority), ofHost: lane.host, group, lane.priority)
    }

    /// Puts the lane at the head of the rotation.
    func makeNext(host: String, group: Int64, priority: Priority) throws(StoreError) {
        try settleHosts()
        let level = Value.integer(Int64(priority.rawValue))
        let first = try connection.first(
            "SELECT min(turn) FROM group_queue INDEXED BY group_turn WHERE priority = ?1 AND held = 0", level
        ) { $0.optionalInteger(0) }
        guard let first, let first else { return }
        let own = try connection.first(
            "SELECT turn FROM host_queue WHERE priority = ?1 AND group_id = ?2 AND host = ?3", level, .integer(group),
            .text(host)
        ) { $0.integer(0) }
        guard own != first else { return }
        try setTurn(first - 1, ofHost: host, group, priority)
    }

    private func setTurn(
        _ turn: Int64, ofHost host: String, _ group: Int64, _ priority: Priority
    ) throws(StoreError) {
        try connection.run(
            "UPDATE host_queue SET turn = ?4 WHERE priority = ?1 AND group_id = ?2 AND host = ?3",
            .integer(Int64(priority.rawValue)), .integer(group), .text(host), .integer(turn))
        try refreshFront(ofGroup: group, priority)
    }

    /// The turn of who joins the rotation at its end.
    func nextTurn(_ priority: Priority) throws(StoreError) -> Int64 {
        try connection.first(
            """
            INSERT INTO rotation (priority, last) VALUES (?1, 1) ON CONFLICT DO UPDATE SET last = last + 1
            RETURNING last
            """, .integer(Int64(priority.rawValue))
        ) { $0.integer(0) } ?? 1
    }

    /// Brings a group's row up to date with its lanes.
    func refreshFront(ofGroup group: Int64, _ priority: Priority) throws(StoreError) {
        let level = Value.integer(Int64(priority.rawValue))
        try connection.run(
            """
            UPDATE group_queue SET turn = (SELECT min(turn) FROM host_queue INDEXED BY host_turn
                WHERE priority = ?1 AND group_id = ?2 AND cooling = 0)
            WHERE priority = ?1 AND group_id = ?2
            """, level, .integer(group))
    }
}
