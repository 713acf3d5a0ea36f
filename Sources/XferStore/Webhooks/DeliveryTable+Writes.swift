public import XferModel

extension DeliveryTable where Store == StoreTransaction {
    /// Removes a delivery that the receiver has accepted.
    public func remove(_ id: Int64) throws(StoreError) {
        try connection.run("DELETE FROM webhook_delivery WHERE id = ?1", .integer(id))
    }

    /// Records a failed attempt; the next one follows at `time`, unless the delivery was given up meanwhile.
    public func postpone(_ id: Int64, until time: Timestamp) throws(StoreError) {
        try connection.run(
            """
            UPDATE webhook_delivery SET attempts = attempts + 1, next_try_at = ?2
            WHERE id = ?1 AND next_try_at IS NOT NULL
            """, .integer(id), Value(time))
    }

    /// Records a failed attempt; the delivery keeps its position before those of later events.
    public func countAttempt(at id: Int64) throws(StoreError) {
        try connection.run(
            "UPDATE webhook_delivery SET attempts = attempts + 1 WHERE id = ?1 AND next_try_at IS NOT NULL",
            .integer(id))
    }

    /// Records a failed attempt without a further one; the event's text is no longer needed.
    public func fail(_ id: Int64, at now: Timestamp) throws(StoreError) {
        try connection.run(
            """
            UPDATE webhook_delivery SET attempts = attempts + 1, next_try_at = NULL, failed_at = ?2, body = ''
            WHERE id = ?1
            """, .integer(id), Value(now))
    }

    public func setReceiverState(_ receiver: WebhookReceiverState, ofWebhook name: String) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO webhook_state (webhook, failures, paused_until, delivered_at, failed_at, failure)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            .text(name), Value(receiver.failures), Value(receiver.pausedUntil), Value(receiver.lastDeliveredAt),
            Value(receiver.lastFailedAt), Value(receiver.lastFailure))
    }

    /// Discards at most `step` of the oldest deliveries that wait for a webhook, all but the newest `count`; returns
    /// their number. Call it again, in a write of its own, until it returns 0.
    public func failOldest(
        of webhook: String, keeping count: Int, at now: Timestamp, step: Int = 200
    ) throws(StoreError) -> Int {
        let newestBeyond = try connection.first(
            """
            SELECT id FROM webhook_delivery WHERE webhook = ?1 AND next_try_at IS NOT NULL
            ORDER BY id DESC LIMIT 1 OFFSET ?2
            """, .text(webhook), Value(count)
        ) { $0.integer(0) }
        guard let newestBeyond else { return 0 }
        try connection.run(
            """
            UPDATE webhook_delivery SET next_try_at = NULL, failed_at = ?3, body = '' WHERE id IN (
                SELECT id FROM webhook_delivery
                WHERE webhook = ?1 AND next_try_at IS NOT NULL AND id <= ?2 ORDER BY id LIMIT ?4)
            """, .text(webhook), .integer(newestBeyond), Value(now), Value(step))
        return connection.changeCount
    }

    /// Removes at most `step` deliveries that failed finally before `time`, or beyond the newest `maxCount`; returns
    /// their number. Call it again, in a write of its own, until it returns 0.
    public func trimFailed(
        maxCount: Int, olderThan time: Timestamp, step: Int = 200
    ) throws(StoreError) -> Int {
        let newestBeyond = try connection.first(
            """
            SELECT failed_at, id FROM webhook_delivery INDEXED BY webhook_delivery_failed WHERE failed_at IS NOT NULL
            ORDER BY failed_at DESC, id DESC LIMIT 1 OFFSET ?1
            """, Value(maxCount)
        ) { (failedAt: $0.time(0), id: $0.integer(1)) }
        try connection.run(
            """
            DELETE FROM webhook_delivery WHERE id IN (
                SELECT id FROM webhook_delivery INDEXED BY webhook_delivery_failed
                WHERE failed_at IS NOT NULL AND (failed_at < ?1 OR (failed_at, id) <= (?2, ?3))
                ORDER BY failed_at, id LIMIT ?4)
            """, Value(time), Value(newestBeyond?.failedAt), Value(newestBeyond?.id), Value(step))
        return connection.changeCount
    }

    /// Ends waits and pauses that exceed `longest`: they began while the clock was ahead.
    public func capWaits(at now: Timestamp, longest: Duration) throws(StoreError) {
        let limit = now.advanced(by: longest)
        try connection.run(
            "UPDATE webhook_delivery SET next_try_at = ?1 WHERE next_try_at > ?2", Value(now), Value(limit))
        try connection.run(
            "UPDATE webhook_state SET paused_until = NULL WHERE paused_until > ?1", Value(limit))
    }
}
