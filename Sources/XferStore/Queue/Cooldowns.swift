public import XferModel

/// Hosts whose tasks wait because of an answer (`HostCooldown`): none of their lanes is picked until the time is over.
extension StoreReader {
    /// When the cooldown of this host ends, nil when it has none.
    public func cooldown(of host: String) throws(StoreError) -> Timestamp? { try hostCooldown(of: host)?.until }

    /// The cooldown of this host with the answer that set it.
    public func hostCooldown(of host: String) throws(StoreError) -> HostCooldown? {
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

    /// When the first cooldown ends.
    public func earliestCooldown() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(until) FROM host_cooldown") { $0.optionalTime(0) } ?? nil
    }

    /// Hosts whose cooldown is over: its time has passed, or the task whose answer set it was cancelled, has completed
    /// or was removed. `setCooldown(host:until: nil)` lets them back in.
    public func endedCooldowns(now: Timestamp, limit: Int = 1000) throws(StoreError) -> [String] {
        try connection.all(
            """
            SELECT host FROM host_cooldown WHERE until <= ?1
                OR task_id IS NOT NULL AND coalesce(
                    (SELECT state IN ('cancelled', 'completed') FROM task WHERE id = host_cooldown.task_id), 1)
            ORDER BY until LIMIT ?2
            """, Value(now), Value(limit)
        ) { $0.text(0) }
    }

    /// Hosts that have a cooldown, those that end first.
    public func coolingHosts(limit: Int) throws(StoreError) -> [String] {
        try connection.all("SELECT host FROM host_cooldown ORDER BY until LIMIT ?1", Value(limit)) { $0.text(0) }
    }

    /// Tasks for other URLs of this URL's host that an answer makes wait after `now`, of the 64 tasks of the host that
    /// wait longest.
    public func refused(beside url: HTTPURL, after now: Timestamp) throws(StoreError) -> [TransferTask] {
        try connection.all(
            """
            SELECT * FROM (
                SELECT * FROM task INDEXED BY task_refused
                WHERE host = ?1 AND wait_reason = 'retry' AND error_reason = 'http_status' AND wait_until > ?2
                ORDER BY wait_until DESC LIMIT 64
            ) WHERE url <> ?3
            """, .text(url.hostKey), Value(now), .text(url.string)
        ) { row throws(StoreError) in try TaskRow(row).task() }
    }
}

extension StoreTransaction {
    /// Keeps the host out of `nextLane` until it is called with nil. Costs a row per group, profile and priority with
    /// queued tasks for it.
    public func setCooldown(
        host: String, until: Timestamp?, cause: HostCooldown.Cause? = nil
    ) throws(StoreError) {
        try settleHosts()
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
            try refreshFront(of: line)
        }
    }
}
