public import XferModel

/// An event that a webhook's receiver has not accepted yet.
public struct WebhookDelivery: Hashable, Sendable {
    public let id: Int64
    /// The webhook's name. It may no longer be defined.
    public let webhook: String
    /// The request's `Idempotency-Key`: store id, number of the event and webhook.
    public let key: String
    /// The event, in the form of `StoreTexts.event`; empty once the delivery was given up.
    public let body: String
    public let createdAt: Timestamp
    /// The number of failed attempts.
    public let attempts: Int
}

extension WebhookDelivery {
    /// Reads a row of id, webhook, key, body, created_at, attempts.
    fileprivate init(_ row: ResultRow) {
        self.init(
            id: row.integer(0), webhook: row.text(1), key: row.text(2), body: row.text(3), createdAt: row.time(4),
            attempts: Int(clamping: row.amount(5)))
    }
}

/// The state of a webhook's receiver.
public struct WebhookReceiverState: Hashable, Sendable {
    /// The number of failed attempts since the last accepted one.
    public var failures = 0
    /// The time before which nothing is sent.
    public var pausedUntil: Timestamp?
    public var lastDeliveredAt: Timestamp?
    public var lastFailedAt: Timestamp?
    public var lastFailure: String?

    public init() {}
}

/// The deliveries to webhooks: `webhook_delivery`, with the states of receivers.
public struct DeliveryTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The next webhook by name with deliveries that wait; nil after the last.
    public func webhook(after name: String) throws(StoreError) -> String? {
        try connection.first(
            """
            SELECT webhook FROM webhook_delivery INDEXED BY webhook_delivery_due
            WHERE next_try_at IS NOT NULL AND webhook > ?1 ORDER BY webhook LIMIT 1
            """, .text(name)
        ) { $0.text(0) }
    }

    /// Deliveries that may be attempted now, the longest due first.
    public func due(of webhook: String, now: Timestamp, limit: Int) throws(StoreError) -> [WebhookDelivery] {
        try connection.all(
            """
            SELECT id, webhook, key, body, created_at, attempts FROM webhook_delivery INDEXED BY webhook_delivery_due
            WHERE webhook = ?1 AND next_try_at <= ?2 ORDER BY next_try_at, id LIMIT ?3
            """, .text(webhook), Value(now), Value(limit)
        ) { WebhookDelivery($0) }
    }

    /// The oldest deliveries that wait for a webhook with batches, in the order of their events: at most `limit`, with
    /// bodies of at most `bytes` bytes in total, but at least one. A refused attempt does not change their order.
    public func oldest(
        of webhook: String, limit: Int, bytes: Int
    ) throws(StoreError) -> [WebhookDelivery] {
        let found = try connection.all(
            """
            SELECT id, webhook, key, body, created_at, attempts FROM webhook_delivery INDEXED BY webhook_delivery_due
            WHERE webhook = ?1 AND next_try_at IS NOT NULL ORDER BY next_try_at, id LIMIT ?2
            """, .text(webhook), Value(limit)
        ) { WebhookDelivery($0) }
        var sum = 0
        let count = found.prefix { delivery in
            sum = sum.addingSaturated(delivery.body.utf8.count)
            return sum <= bytes
        }.count
        return Array(found.prefix(max(1, count)))
    }

    /// The earliest time at which an entry that is not due yet becomes due.
    public func next(of webhook: String, after now: Timestamp) throws(StoreError) -> Timestamp? {
        try connection.first(
            """
            SELECT min(next_try_at) FROM webhook_delivery INDEXED BY webhook_delivery_due
            WHERE webhook = ?1 AND next_try_at > ?2
            """, .text(webhook), Value(now)
        ) { $0.optionalTime(0) } ?? nil
    }

    /// The state of the receiver; the initial state if there was no attempt yet.
    public func receiverState(ofWebhook name: String) throws(StoreError) -> WebhookReceiverState {
        let found = try connection.first(
            "SELECT failures, paused_until, delivered_at, failed_at, failure FROM webhook_state WHERE webhook = ?1",
            .text(name)
        ) { row in
            var receiver = WebhookReceiverState()
            receiver.failures = Int(clamping: row.amount(0))
            receiver.pausedUntil = row.optionalTime(1)
            receiver.lastDeliveredAt = row.optionalTime(2)
            receiver.lastFailedAt = row.optionalTime(3)
            receiver.lastFailure = row.optionalText(4)
            return receiver
        }
        return found ?? WebhookReceiverState()
    }

    /// The number of a webhook's deliveries that wait, and of the stored ones that failed finally.
    public func counts(of webhook: String) throws(StoreError) -> (pending: Int64, failed: Int64) {
        let pending = try connection.first(
            """
            SELECT count(*) FROM webhook_delivery INDEXED BY webhook_delivery_due
            WHERE webhook = ?1 AND next_try_at IS NOT NULL
            """, .text(webhook)
        ) { $0.amount(0) }
        let failed = try connection.first(
            """
            SELECT count(*) FROM webhook_delivery INDEXED BY webhook_delivery_failed
            WHERE failed_at IS NOT NULL AND webhook = ?1
            """, .text(webhook)
        ) { $0.amount(0) }
        return (pending ?? 0, failed ?? 0)
    }
}
