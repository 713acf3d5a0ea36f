public import XferModel

/// Hosts whose tasks wait because of an answer (`HostCooldown`): none of their lanes is picked until the time has
/// passed.
public struct CooldownTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The end of this host's cooldown, nil when it has none.
    public func end(of host: String) throws(StoreError) -> Timestamp? { try find(of: host)?.until }

    /// The cooldown of this host with the answer that set it.
    public func find(of host: String) throws(StoreError) -> HostCooldown? {
        try connection.first(
            "SELECT until, task_id, owner, url FROM host_cooldown WHERE host = ?1", .text(host)
        ) { row in
            var cooldown = HostCooldown(host: host, until: row.time(0))
            if let task = row.optionalInteger(1), let owner = row.optionalInteger(2), let url = row.optionalText(3) {
                cooldown.cause = HostCooldown.Cause(
                    task: TaskID(task), owner: Owner(uid: UInt32(truncatingIfNeeded: owner)), url: url)
            }
            return cooldown
        }
    }

    /// The end of the cooldown that ends first.
    public func earliestEnd() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(until) FROM host_cooldown") { $0.optionalTime(0) } ?? nil
    }

    /// Hosts whose cooldown has ended, because its time has passed or `expire` was called.
    /// `set(host:until: nil)` admits them again.
    public func due(now: Timestamp, limit: Int = 1000) throws(StoreError) -> [HostCooldown] {
        try connection.all(
            "SELECT host, until FROM host_cooldown WHERE until <= ?1 ORDER BY until LIMIT ?2", Value(now), Value(limit)
        ) { HostCooldown(host: $0.text(0), until: $0.time(1)) }
    }

    /// Hosts that have a cooldown, the earliest end first.
    public func hosts(limit: Int) throws(StoreError) -> [String] {
        try connection.all("SELECT host FROM host_cooldown ORDER BY until LIMIT ?1", Value(limit)) { $0.text(0) }
    }

    /// Tasks of the host that wait after `now` because it refused them, the longest wait first: at most 64, of the
    /// 1,024 refused tasks that wait longest. Unreadable rows are left out.
    ///
    /// - Parameters:
    ///   - statuses: the statuses of the refusals.
    ///   - url: a URL whose tasks are left out.
    ///   - owner: an owner whose tasks are left out.
    public func refusedTasks(
        by host: String, with statuses: [Int64] = [429, 503], besides url: HTTPURL? = nil,
        ofOthersThan owner: Owner? = nil, after now: Timestamp
    ) throws(StoreError) -> ReadableTasks {
        // The error of a damaged row may be no JSON, and the order in which AND evaluates is not defined.
        try connection.tasks(
            """
            SELECT * FROM (
                SELECT * FROM task INDEXED BY task_refused
                WHERE host = ?1 AND wait_reason = 'retry' AND error_reason = 'http_status' AND wait_until > ?2
                ORDER BY wait_until DESC LIMIT 1024
            )
            WHERE url IS NOT ?3 AND owner IS NOT ?4
                AND CASE WHEN json_valid(error) THEN json_extract(error, '$.httpStatus') END
                    IN (SELECT value FROM json_each(?5))
            LIMIT 64
            """, .text(host), Value(now), Value(url?.string), Value(owner), .text(JSONText.array(statuses))
        )
    }
}

extension HostCooldown {
    /// The end of a cooldown whose cause has ended.
    public static let over = Timestamp(seconds: 0)
}

extension CooldownTable where Store == StoreTransaction {
    /// Keeps the host out of `QueueTable.nextLane` until it is called with nil. Costs a row per group, profile and
    /// priority with queued tasks for it.
    public func set(
        host: String, until: Timestamp?, cause: HostCooldown.Cause? = nil
    ) throws(StoreError) {
        try store.settleHosts()
        store.mayHaveCooldowns = true
        if let until {
            try connection.run(
                """
                INSERT INTO host_cooldown (host, until, task_id, owner, url) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT DO UPDATE SET until = excluded.until, task_id = excluded.task_id, owner = excluded.owner,
                    url = excluded.url
                """,
                .text(host), Value(until), Value(cause?.task), Value(cause?.owner), Value(cause?.url))
        } else {
            try connection.run("DELETE FROM host_cooldown WHERE host = ?1", .text(host))
        }
        let lines = try connection.all(
            "SELECT priority, group_id, profile FROM host_queue INDEXED BY host_lane WHERE host = ?1 AND cooling <> ?2",
            .text(host), Value(until != nil)
        ) {
            LineKey(
                priority: Priority(rawValue: Int(clamping: $0.integer(0))) ?? .normal, group: $0.integer(1),
                profile: $0.text(2))
        }
        for line in lines {
            let (priority, group, profile) = line.values
            try connection.run(
                """
                UPDATE host_queue SET cooling = ?5
                WHERE priority = ?1 AND group_id = ?2 AND profile = ?3 AND host = ?4
                """, priority, group, profile, .text(host), Value(until != nil))
            try store.queue.refreshFront(of: line)
        }
    }

    /// Ends the cooldowns that answers to these tasks have set: the tasks were cancelled, have completed, are being
    /// removed or get another source. Each is due at once; the next pass admits the host again, or finds another cause.
    public func expire(causedBy ids: [TaskID]) throws(StoreError) {
        guard try hasAny() else { return }
        for id in ids {
            try connection.run(
                "UPDATE host_cooldown SET until = ?2 WHERE task_id = ?1", Value(id), Value(HostCooldown.over))
        }
    }

    /// True if any host cools down. It saves a query for every task that ends.
    private func hasAny() throws(StoreError) -> Bool {
        if store.mayHaveCooldowns {
            store.mayHaveCooldowns = try connection.first("SELECT 1 FROM host_cooldown LIMIT 1") { _ in true } ?? false
        }
        return store.mayHaveCooldowns
    }
}
