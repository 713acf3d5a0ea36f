extension Migration {
    /// Deliveries of events to webhooks.
    static let webhooks = Migration(
        name: "webhooks",
        sql: """
            -- Removed once it is accepted. AUTOINCREMENT: a delivery that was settled and one that came after it are never
            -- mistaken for each other.
            CREATE TABLE webhook_delivery (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                webhook TEXT NOT NULL,
                -- The request's Idempotency-Key, the same at every try, also when the store's id has changed meanwhile.
                key TEXT NOT NULL,
                body TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL DEFAULT 0,
                -- Null once it was given up.
                next_try_at INTEGER,
                failed_at INTEGER
            ) STRICT;
            CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, next_try_at) WHERE next_try_at IS NOT NULL;
            CREATE INDEX webhook_delivery_failed ON webhook_delivery (failed_at) WHERE failed_at IS NOT NULL;

            -- One row per webhook that had a delivery.
            CREATE TABLE webhook_state (
                webhook TEXT NOT NULL PRIMARY KEY,
                -- Tries that failed since the last accepted one.
                failures INTEGER NOT NULL DEFAULT 0,
                -- Nothing is sent before.
                paused_until INTEGER,
                delivered_at INTEGER,
                failed_at INTEGER,
                failure TEXT
            ) STRICT, WITHOUT ROWID;
            """)
}
