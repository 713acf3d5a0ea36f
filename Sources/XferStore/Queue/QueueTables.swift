public import XferModel

/// Writes deltas into `host_queue` (with `group_queue`) and `task_count`.
extension StoreTransaction {
    /// Changes the number of a lane's queued tasks. A new lane joins the rotation at its end; otherwise new hosts could
    /// starve the others.
    func change(_ key: HostKey, by amount: Int64) throws(StoreError) {
        let (priority, group, profile) = key.line.values
        // Nearly always the lane stays. Not with RETURNING, for which SQLite makes a table each time.
        try connection.run(
            """
            UPDATE host_queue SET queued = queued + ?5
            WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND host = ?4 AND queued + ?5 > 0
            """,
            priority, group, profile, .text(key.host), .integer(amount))
        guard connection.changeCount == 0 else { return }
        let isThere = try connection.first(
            "SELECT 1 FROM host_queue WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND host = ?4",
            priority, group, profile, .text(key.host)
        ) { _ in true }
        guard isThere != nil else { return try addLane(key, queued: amount) }
        try connection.run(
            "DELETE FROM host_queue WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND host = ?4", priority,
            group, profile, .text(key.host))
        try refreshFront(of: key.line)
    }

    private func addLane(_ key: HostKey, queued: Int64) throws(StoreError) {
        let (priority, group, profile) = key.line.values
        // Its turn comes after those of lanes that were served before.
        try settleTurns()
        let turn = try nextTurn(key.line.priority)
        let isCooling = try cooldown(of: key.host) != nil
        try connection.run(
            """
            INSERT INTO host_queue (priority, group_id, profile, host, queued, turn, cooling)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            priority, group, profile, .text(key.host), .integer(queued), .integer(turn), Value(isCooling))
        // The newest turn is the first only where there is no other.
        let isSettled = try connection.first(
            """
            SELECT turn IS NOT NULL AND only_host = '' FROM group_queue
            WHERE priority = ?1 AND group_id = ?2 AND profile = ?3
            """, priority, group, profile
        ) { $0.flag(0) }
        if isSettled != true { try refreshFront(of: key.line) }
    }

    func change(_ key: CountKey, by amount: Int64) throws(StoreError) {
        let owner = Int64(key.owner.rawValue)
        try count(owner: CountScope.allOwners, group: CountScope.allGroups, key.state, by: amount)
        try count(owner: owner, group: CountScope.allGroups, key.state, by: amount)
        guard let group = key.group, group != CountScope.allGroups else { return }
        try count(owner: CountScope.allOwners, group: group, key.state, by: amount)
        try count(owner: owner, group: group, key.state, by: amount)
    }

    private func count(owner: Int64, group: String, _ state: TaskState, by amount: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO task_count (owner, group_name, state, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET count = count + excluded.count
            """,
            .integer(owner), .text(group), Value(state), .integer(amount))
        guard amount < 0, group != CountScope.allGroups else { return }
        // Every batch may be a group, so empty groups must not leave rows behind.
        try connection.run(
            "DELETE FROM task_count WHERE owner = ?1 AND group_name = ?2 AND state = ?3 AND count <= 0",
            .integer(owner), .text(group), Value(state))
    }
}

/// Values of `task_count` that represent all owners or groups.
enum CountScope {
    static let allOwners: Int64 = -1
    static let allGroups = ""
}

extension StoreReader {
    /// Numbers of tasks by state: all, one owner's, one group's, or one owner's within a group. O(1); states without
    /// tasks are left out.
    public func counts(owner: Owner? = nil, group: String? = nil) throws(StoreError) -> [TaskState: Int64] {
        try settleCounts()
        let rows = try connection.all(
            "SELECT state, count FROM task_count WHERE owner = ?1 AND group_name = ?2 AND count > 0",
            .integer(owner.map { Int64($0.rawValue) } ?? CountScope.allOwners), .text(group ?? CountScope.allGroups)
        ) { row throws(StoreError) in
            (try row.word(TaskState.self, 0, table: "task_count", id: 0, name: "state"), row.amount(1))
        }
        return Dictionary(rows) { $0.addingSaturated($1) }
    }
}
