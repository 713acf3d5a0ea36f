public import XferModel

/// The lanes of queued tasks: those of a priority rotate, so that 100,000 tasks for one host do not starve the
/// others.
///
/// Three tables keep the search short. `host_queue` has the turn of each lane. A line is a group and a profile;
/// `group_queue` has one row for each line, with the turn of its first lane. If a group or profile is paused or at its
/// limit, the search skips that row, however many lanes the line has. `only_host_queue` has one row for each host that
/// is the only host of some lines. If the host is blocked, the search skips that row, however many lines wait for it.
public struct QueueTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The next lane by its turn, of those that are not cooling down, not in a paused group, and not excluded.
    ///
    /// Lines with several hosts are read in the order of their first lanes, lines with one host in the order of their
    /// hosts. The search ends when no row that remains can have an earlier turn. In each order it examines at most one
    /// row more than is excluded, unless lines with several hosts begin with lanes of excluded hosts.
    public func nextLane(
        priority: Priority, without excluded: LaneExclusions = LaneExclusions()
    ) throws(StoreError) -> QueueLane? {
        try store.settleHosts()
        try store.settleTurns()
        if excluded == LaneExclusions() {
            guard let next = try lanesByTurn(priority, limit: 1), let host = next.hosts.first else { return nil }
            return try lane(of: next.line, host: host)
        }
        var ids: [Int64] = []
        for group in excluded.groups { if let id = try store.groups.id(of: group) { ids.append(id) } }
        let exclusions = Exclusions(
            groups: JSONText.array(ids), profiles: JSONText.array(excluded.profiles.sorted()),
            hosts: JSONText.array(excluded.hosts.sorted()))
        let several = try firstOfSeveralHosts(priority, exclusions)
        let single = try firstOfOneHost(priority, exclusions, before: several?.turn ?? .max)
        guard let front = single ?? several else { return nil }
        return try lane(of: LineKey(priority: priority, group: front.group, profile: front.profile), host: front.host)
    }

    /// Returns the lanes that are next by their turns, without exclusions, and a flag that is true if there are no
    /// others. They are of one line, as far as no other line's lane is between them. A line's turn is that of its first
    /// lane, so only that is read of other lines.
    func lanesByTurn(
        _ priority: Priority, limit: Int
    ) throws(StoreError) -> (line: LineKey, hosts: [String], isAlone: Bool)? {
        let level = Value.integer(Int64(priority.rawValue))
        let several = try connection.all(
            """
            SELECT turn, group_id, profile FROM group_queue INDEXED BY group_turn
            WHERE priority = ?1 AND held = 0 AND only_host = '' AND turn IS NOT NULL
            ORDER BY turn, group_id, profile LIMIT 2
            """, level
        ) { (turn: $0.integer(0), line: LineKey(priority: priority, group: $0.integer(1), profile: $0.text(2))) }
        let single = try connection.first(
            """
            SELECT turn, host FROM only_host_queue INDEXED BY only_host_turn
            WHERE priority = ?1 ORDER BY turn, host LIMIT 1
            """, level
        ) { (turn: $0.integer(0), host: $0.text(1)) }
        if let single, single.turn < several.first?.turn ?? .max {
            let line = try connection.first(
                """
                SELECT group_id, profile FROM group_queue INDEXED BY group_turn
                WHERE priority = ?1 AND held = 0 AND only_host = ?2 AND turn IS NOT NULL
                ORDER BY turn, group_id, profile LIMIT 1
                """, level, .text(single.host)
            ) { LineKey(priority: priority, group: $0.integer(0), profile: $0.text(1)) }
            return line.map { ($0, [single.host], false) }
        }
        guard let line = several.first?.line else { return nil }
        let bound = min(several.dropFirst().first?.turn ?? .max, single?.turn ?? .max)
        let (_, group, profile) = line.values
        let hosts = try connection.all(
            """
            SELECT host FROM host_queue INDEXED BY host_turn
            WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND cooling = 0 AND turn < ?4
            ORDER BY turn, host LIMIT ?5
            """, level, group, profile, .integer(bound), Value(limit)
        ) { $0.text(0) }
        return (line, hosts, bound == .max && hosts.count < limit)
    }

    func lane(of line: LineKey, host: String) throws(StoreError) -> QueueLane {
        QueueLane(
            priority: line.priority, group: try store.groups.key(of: line.group),
            profile: line.profile.isEmpty ? nil : line.profile, host: host)
    }

    /// The tasks of this lane that start next, in order.
    public func heads(of lane: QueueLane, order: QueueOrder, limit: Int) throws(StoreError) -> [TaskID] {
        guard let group = try store.groups.id(of: lane.group) else { return [] }
        let priority = Value.integer(Int64(lane.priority.rawValue))
        return switch order {
        case .fifo:
            try connection.all(
                """
                SELECT id FROM task INDEXED BY task_queue
                WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND profile IS ?3 AND host = ?4
                ORDER BY rank, id LIMIT ?5
                """,
                priority, .integer(group), Value(lane.profile), .text(lane.host), Value(limit)
            ) { TaskID($0.integer(0)) }
        case .lifo:
            try connection.all(
                """
                SELECT id FROM task INDEXED BY task_queue
                WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND profile IS ?3 AND host = ?4
                ORDER BY rank DESC, id DESC LIMIT ?5
                """,
                priority, .integer(group), Value(lane.profile), .text(lane.host), Value(limit)
            ) { TaskID($0.integer(0)) }
        }
    }

    // MARK: Lines' first lanes

    /// The candidate with the earliest turn before `limit`. `page` returns candidates in the order of their bounds; the
    /// pages grow.
    private func earliest(
        before limit: Int64, page: (Candidate?, Int) throws(StoreError) -> [Candidate]
    ) throws(StoreError) -> LaneFront? {
        var best: LaneFront?
        var last: Candidate?
        var size = 2
        while true {
            let candidates = try page(last, size)
            for candidate in candidates {
                if candidate.bound >= best?.turn ?? limit { return best }
                guard let turn = candidate.turn, turn < best?.turn ?? limit else { continue }
                best = LaneFront(
                    group: candidate.group, profile: candidate.profile, host: candidate.host, turn: turn)
            }
            guard candidates.count == size else { return best }
            last = candidates.last
            size = min(size * 4, 512)
        }
    }

    private func firstOfSeveralHosts(_ priority: Priority, _ excluded: Exclusions) throws(StoreError) -> LaneFront? {
        try earliest(before: .max) { last, size throws(StoreError) in
            try connection.all(
                """
                SELECT q.turn, q.group_id, q.profile, l.turn, l.host
                FROM group_queue q INDEXED BY group_turn
                LEFT JOIN host_queue l ON l.priority = q.priority AND l.group_id = q.group_id AND l.profile = q.profile
                    AND l.host = (
                        SELECT f.host FROM host_queue f INDEXED BY host_turn
                        WHERE f.priority = q.priority AND f.group_id = q.group_id AND f.profile = q.profile
                            AND f.cooling = 0 AND f.host NOT IN (SELECT value FROM json_each(?2))
                        ORDER BY f.turn, f.host LIMIT 1)
                WHERE q.priority = ?1 AND q.held = 0 AND q.only_host = ''
                    AND (q.turn, q.group_id, q.profile) > (?3, ?4, ?5)
                    AND q.group_id NOT IN (SELECT value FROM json_each(?6))
                    AND q.profile NOT IN (SELECT value FROM json_each(?7))
                ORDER BY q.turn, q.group_id, q.profile LIMIT ?8
                """,
                .integer(Int64(priority.rawValue)), .text(excluded.hosts), .integer(last?.bound ?? .min),
                .integer(last?.group ?? .min), .text(last?.profile ?? ""), .text(excluded.groups),
                .text(excluded.profiles), Value(size)
            ) {
                Candidate(
                    bound: $0.integer(0), group: $0.integer(1), profile: $0.text(2), turn: $0.optionalInteger(3),
                    host: $0.optionalText(4) ?? "")
            }
        }
    }

    private func firstOfOneHost(
        _ priority: Priority, _ excluded: Exclusions, before limit: Int64
    ) throws(StoreError) -> LaneFront? {
        try earliest(before: limit) { last, size throws(StoreError) in
            try connection.all(
                """
                SELECT h.turn, g.group_id, g.profile, g.turn, h.host
                FROM only_host_queue h INDEXED BY only_host_turn
                LEFT JOIN group_queue g ON g.priority = h.priority AND (g.group_id, g.profile) = (
                    SELECT q.group_id, q.profile FROM group_queue q INDEXED BY group_turn
                    WHERE q.priority = h.priority AND q.held = 0 AND q.only_host = h.host AND q.turn IS NOT NULL
                        AND q.group_id NOT IN (SELECT value FROM json_each(?5))
                        AND q.profile NOT IN (SELECT value FROM json_each(?6))
                    ORDER BY q.turn, q.group_id, q.profile LIMIT 1)
                WHERE h.priority = ?1 AND (h.turn, h.host) > (?3, ?4)
                    AND h.host NOT IN (SELECT value FROM json_each(?2))
                ORDER BY h.turn, h.host LIMIT ?7
                """,
                .integer(Int64(priority.rawValue)), .text(excluded.hosts), .integer(last?.bound ?? .min),
                .text(last?.host ?? ""), .text(excluded.groups), .text(excluded.profiles), Value(size)
            ) {
                Candidate(
                    bound: $0.integer(0), group: $0.optionalInteger(1) ?? GroupRow.none,
                    profile: $0.optionalText(2) ?? "", turn: $0.optionalInteger(3), host: $0.text(4))
            }
        }
    }
}

extension QueueTable where Store == StoreTransaction {
    /// Puts the lane at the head of the rotation.
    func makeNext(_ lane: HostKey) throws(StoreError) {
        try store.settleHosts()
        try store.settleTurns()
        let (level, group, profile) = lane.line.values
        let first = try connection.first(
            """
            SELECT min(turn) FROM (
                SELECT min(turn) AS turn FROM group_queue INDEXED BY group_turn
                    WHERE priority = ?1 AND held = 0 AND only_host = ''
                UNION ALL SELECT min(turn) FROM only_host_queue INDEXED BY only_host_turn WHERE priority = ?1)
            """, level
        ) { $0.optionalInteger(0) }
        guard let first, let first else { return }
        let own = try connection.first(
            "SELECT turn FROM host_queue WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND host = ?4", level,
            group, profile, .text(lane.host)
        ) { $0.integer(0) }
        guard own != first else { return }
        // The turn is below every turn given before, so no two turns are equal. That includes lanes that are paused or
        // cooling down.
        let turn = try connection.first(
            "UPDATE rotation SET first = first - 1 WHERE priority = ?1 RETURNING first", level
        ) { $0.integer(0) }
        guard let turn else { return }
        try setTurn(turn, of: lane)
        try refreshFront(of: lane.line)
    }

    /// `refreshFront` of its line has to follow.
    func setTurn(_ turn: Int64, of lane: HostKey) throws(StoreError) {
        let (level, group, profile) = lane.line.values
        try connection.run(
            """
            UPDATE host_queue SET turn = ?5 WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND host = ?4
            """, level, group, profile, .text(lane.host), .integer(turn))
    }

    /// The turn of a lane that joins the rotation at its end; the last one, for several.
    func nextTurn(_ priority: Priority, count: Int = 1) throws(StoreError) -> Int64 {
        try connection.first(
            """
            INSERT INTO rotation (priority, last) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last = last + excluded.last
            RETURNING last
            """, .integer(Int64(priority.rawValue)), Value(count)
        ) { $0.integer(0) } ?? Int64(clamping: count)
    }

    /// Updates the line's row in `group_queue` from its lanes, and the row of its only host in `only_host_queue`.
    func refreshFront(of line: LineKey) throws(StoreError) {
        let (level, group, profile) = line.values
        let before = try connection.first(
            "SELECT only_host FROM group_queue WHERE priority = ?1 AND group_id = ?2 AND profile = ?3", level, group,
            profile
        ) { $0.text(0) }
        let hosts = try connection.all(
            "SELECT host FROM host_queue WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 LIMIT 2", level, group,
            profile
        ) { $0.text(0) }
        let only = hosts.count == 1 ? hosts[0] : ""
        if hosts.isEmpty {
            try connection.run(
                "DELETE FROM group_queue WHERE priority = ?1 AND group_id = ?2 AND profile = ?3", level, group, profile)
        } else {
            try connection.run(
                """
                INSERT INTO group_queue (priority, group_id, profile, held, turn, only_host)
                VALUES (?1, ?2, ?3, EXISTS (SELECT 1 FROM queue_group WHERE id = ?2 AND paused = 1),
                    (SELECT min(turn) FROM host_queue INDEXED BY host_turn
                        WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND cooling = 0), ?4)
                ON CONFLICT DO UPDATE SET held = excluded.held, turn = excluded.turn, only_host = excluded.only_host
                """, level, group, profile, .text(only))
        }
        for host in Set([before ?? "", only]) where !host.isEmpty { try refreshOnlyHost(host, line.priority) }
    }

    private func refreshOnlyHost(_ host: String, _ priority: Priority) throws(StoreError) {
        let level = Value.integer(Int64(priority.rawValue))
        let turn = try connection.first(
            """
            SELECT turn FROM group_queue INDEXED BY group_turn
            WHERE priority = ?1 AND held = 0 AND only_host = ?2 AND turn IS NOT NULL ORDER BY turn LIMIT 1
            """, level, .text(host)
        ) { $0.integer(0) }
        guard let turn else {
            return try connection.run(
                "DELETE FROM only_host_queue WHERE priority = ?1 AND host = ?2", level, .text(host))
        }
        try connection.run(
            """
            INSERT INTO only_host_queue (priority, host, turn) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET turn = excluded.turn
            """, level, .text(host), .integer(turn))
    }
}

/// The exclusions as JSON.
private struct Exclusions {
    let groups: String
    let profiles: String
    let hosts: String
}

/// A lane that may be next.
private struct LaneFront {
    let group: Int64
    let profile: String
    let host: String
    let turn: Int64
}

/// A row of a line or host: the earliest turn of its lanes, and its first lane that is not excluded.
private struct Candidate {
    let bound: Int64
    let group: Int64
    let profile: String
    let turn: Int64?
    let host: String
}
