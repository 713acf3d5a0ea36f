import XferModel

/// Writes deltas into `host_queue`, with `group_queue`.
extension QueueTable where Store == StoreTransaction {
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
        try store.settleTurns()
        let turn = try nextTurn(key.line.priority)
        let isCooling = try store.cooldowns.end(of: key.host) != nil
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
}
