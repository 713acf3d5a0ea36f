public import XferModel

/// Whose turn it is: hosts rotate within a priority, so that 100,000 tasks for one host starve nobody.
extension StoreReader {
    /// Hosts that have queued tasks and are not cooling down, least recently served first.
    public func nextHosts(priority: Priority, limit: Int) throws(StoreError) -> [String] {
        try settleHosts()
        return try connection.all(
            "SELECT host FROM host_queue WHERE priority = ?1 AND cooling = 0 ORDER BY turn LIMIT ?2",
            .integer(Int64(priority.rawValue)), Value(limit)
        ) { $0.text(0) }
    }

    /// The task of this host that starts next.
    public func head(priority: Priority, host: String, order: QueueOrder) throws(StoreError) -> TaskID? {
        try heads(priority: priority, host: host, order: order, limit: 1).first
    }

    /// The tasks of this host that start next, in order.
    public func heads(
        priority: Priority, host: String, order: QueueOrder, limit: Int
    ) throws(StoreError) -> [TaskID] {
        let priority = Value.integer(Int64(priority.rawValue))
        return switch order {
        case .fifo:
            try connection.all(
                """
                SELECT id FROM task INDEXED BY task_queue WHERE state = 'queued' AND priority = ?1 AND host = ?2
                ORDER BY rank, id LIMIT ?3
                """,
                priority, .text(host), Value(limit)
            ) { TaskID($0.integer(0)) }
        case .lifo:
            try connection.all(
                """
                SELECT id FROM task INDEXED BY task_queue WHERE state = 'queued' AND priority = ?1 AND host = ?2
                ORDER BY rank DESC, id DESC LIMIT ?3
                """,
                priority, .text(host), Value(limit)
            ) { TaskID($0.integer(0)) }
        }
    }

    /// When the cooldown of this host ends, nil when it has none.
    public func cooldown(of host: String) throws(StoreError) -> Timestamp? {
        try connection.first("SELECT until FROM host_cooldown WHERE host = ?1", .text(host)) { $0.time(0) }
    }

    /// When the first cooldown ends.
    public func earliestCooldown() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(until) FROM host_cooldown") { $0.optionalTime(0) } ?? nil
    }

    /// Hosts whose cooldown is over; `setCooldown(host:until: nil)` lets them back in.
    public func expiredCooldowns(now: Timestamp, limit: Int = 1000) throws(StoreError) -> [String] {
        try connection.all(
            "SELECT host FROM host_cooldown WHERE until <= ?1 ORDER BY until LIMIT ?2", Value(now), Value(limit)
        ) { $0.text(0) }
    }

    /// The turn of the host at the end of the rotation.
    func lastTurn(_ priority: Priority) throws(StoreError) -> Int64 {
        let level = Value.integer(Int64(priority.rawValue))
        let waiting = try connection.first(
            "SELECT max(turn) FROM host_queue WHERE priority = ?1 AND cooling = 0", level
        ) { $0.integer(0) }
        let cooling = try connection.first(
            "SELECT max(turn) FROM host_queue WHERE priority = ?1 AND cooling = 1", level
        ) { $0.integer(0) }
        return max(waiting ?? 0, cooling ?? 0)
    }
}

extension StoreTransaction {
    /// Puts the host at the end of the rotation.
    public func markServed(host: String, priority: Priority) throws(StoreError) {
        try settleHosts()
        try connection.run(
            """
            UPDATE host_queue SET turn = 1 + max(
                coalesce((SELECT max(turn) FROM host_queue WHERE priority = ?1 AND cooling = 0), 0),
                coalesce((SELECT max(turn) FROM host_queue WHERE priority = ?1 AND cooling = 1), 0))
            WHERE priority = ?1 AND host = ?2
            """,
            .integer(Int64(priority.rawValue)), .text(host))
    }

    /// Keeps the host out of `nextHosts` until it is called with nil: `Retry-After` is for the whole host.
    public func setCooldown(host: String, until: Timestamp?) throws(StoreError) {
        try settleHosts()
        if let until {
            try connection.run(
                "INSERT INTO host_cooldown (host, until) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET until = excluded.until",
                .text(host), Value(until))
        } else {
            try connection.run("DELETE FROM host_cooldown WHERE host = ?1", .text(host))
        }
        for priority in Priority.allCases {
            try connection.run(
                "UPDATE host_queue SET cooling = ?3 WHERE priority = ?1 AND host = ?2",
                .integer(Int64(priority.rawValue)), .text(host), Value(until != nil))
        }
    }

    /// Puts the host at the head of the rotation.
    func makeNext(host: String, priority: Priority) throws(StoreError) {
        try settleHosts()
        let level = Value.integer(Int64(priority.rawValue))
        let first = try connection.first(
            "SELECT host, turn FROM host_queue WHERE priority = ?1 AND cooling = 0 ORDER BY turn LIMIT 1", level
        ) { (host: $0.text(0), turn: $0.integer(1)) }
        guard let first, first.host != host else { return }
        try connection.run(
            "UPDATE host_queue SET turn = ?3 WHERE priority = ?1 AND host = ?2",
            level, .text(host), .integer(first.turn - 1))
    }
}
