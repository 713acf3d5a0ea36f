public import XferModel

/// Waiting tasks, by time and by reason.
public struct WaitTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The end of the wait with a known end that ends first.
    public func earliestEnd() throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(wait_until) FROM task WHERE wait_until IS NOT NULL") { $0.optionalTime(0) }
            ?? nil
    }

    /// Returns waiting tasks that are due, earliest first.
    public func due(now: Timestamp, limit: Int) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            "SELECT * FROM task WHERE wait_until <= ?1 ORDER BY wait_until, id LIMIT ?2", Value(now), Value(limit)
        )
    }

    /// Tasks waiting for this reason with ids above `after`, ascending.
    public func tasks(
        for reason: WaitReason, after: TaskID? = nil, limit: Int
    ) throws(StoreError) -> ReadableTasks {
        try connection.tasks(
            """
            SELECT * FROM task INDEXED BY task_wait WHERE wait_reason = ?1 AND id > ?2 ORDER BY id LIMIT ?3
            """,
            Value(reason), .integer(after?.rawValue ?? 0), Value(limit)
        )
    }
}

extension WaitTable where Store == StoreTransaction {
    /// Waits that have a length rather than an end at a time of day.
    private static var lengths: [WaitReason] {
        [
            .retry, .network, .insufficientSpace, .destinationUnavailable, .hostCooldown, .outOfDescriptors,
        ]
    }

    /// The longest of them: the longest wait that a server may request (`RetryPolicy.longestRetryAfter`).
    private static var longest: Duration { .seconds(3600) }

    /// Shifts waits after the wall clock was set by `amount`: waits with a length keep their length. Waits for a time
    /// of day do not change. The transaction does all or nothing, so that none is shifted twice.
    ///
    /// - Parameter now: the present time by the clock.
    public func shift(by amount: Duration, now: Timestamp) throws(StoreError) {
        let microseconds = Value.integer(amount.wholeMicroseconds)
        for reason in Self.lengths {
            try connection.run(
                "UPDATE task SET wait_until = wait_until + ?1 WHERE wait_reason = ?2 AND wait_until IS NOT NULL",
                microseconds, Value(reason))
        }
        for state in [TaskState.running, .waiting] {
            try connection.run(
                """
                UPDATE task SET last_progress_at = last_progress_at + ?1
                WHERE state = ?2 AND last_progress_at IS NOT NULL
                """, microseconds, Value(state))
        }
        try connection.run("UPDATE host_cooldown SET until = until + ?1", microseconds)
        try connection.run(
            "UPDATE abandoned_upload SET next_try_at = next_try_at + ?1, abandoned_at = abandoned_at + ?1", microseconds
        )
        try cap(at: now)
    }

    /// Shortens waits that have a length to the longest there is: the wall clock may have been set while the service
    /// did not run.
    public func cap(at now: Timestamp) throws(StoreError) {
        let latest = Value(now.advanced(by: Self.longest))
        for reason in Self.lengths {
            try connection.run(
                """
                UPDATE task INDEXED BY task_wait_end SET wait_until = ?1 WHERE wait_reason = ?2 AND wait_until > ?1
                """, latest, Value(reason))
        }
        try connection.run("UPDATE host_cooldown SET until = ?1 WHERE until > ?1", latest)
        try connection.run("UPDATE abandoned_upload SET next_try_at = ?1 WHERE next_try_at > ?1", latest)
    }
}
