public import XferModel

/// Hosts that answered with `Retry-After`: none of their lanes is picked until the time is over.
extension StoreReader {
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
}

extension StoreTransaction {
    /// Keeps the host out of `nextLane` until it is called with nil: `Retry-After` is for the whole host. Costs a row per
    /// group, profile and priority with queued tasks for it.
    public func setCooldown(host: String, until: Timestamp?) throws(StoreError) {
        try settleHosts()
        if let until {
            try connection.run(
                "INSERT INTO host_cooldown (host, until) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET until = excluded.until",
                .text(host), Value(until))
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
