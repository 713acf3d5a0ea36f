extension Migration {
    /// Counts the copies of files that tasks send, and the deliveries that wait, by user; finds each user's cached
    /// responses in the order of their use.
    static let userShares = Migration(
        name: "user shares",
        sql: """
            -- A kind of task_bytes: 'spool', the copies in the spool directory.
            INSERT INTO task_bytes (task_id, kind, owner, bytes)
                SELECT task.id, 'spool', task.owner, sum(json_extract(source.value, '$.length'))
                FROM (SELECT DISTINCT task_id FROM spooled_source) AS spooled
                    JOIN task ON task.id = spooled.task_id
                    JOIN request_body ON request_body.task_id = spooled.task_id AND json_valid(body),
                    json_tree(body) AS source
                WHERE source.type = 'object' AND json_extract(source.value, '$.spoolName') IS NOT NULL
                GROUP BY task.id;

            -- The owner of the event; null for an event of the service, and for deliveries recorded before.
            ALTER TABLE webhook_delivery ADD COLUMN owner INTEGER;
            -- Deliveries that were given up need no text.
            UPDATE webhook_delivery SET body = '' WHERE next_try_at IS NULL;
            CREATE TABLE owner_deliveries (
                owner INTEGER PRIMARY KEY,
                -- Bytes of the deliveries that wait: each is its text and 256 more.
                bytes INTEGER NOT NULL DEFAULT 0,
                -- Number of deliveries that were discarded because too many bytes waited.
                discarded INTEGER NOT NULL DEFAULT 0,
                -- When the first of them was, until half of the room is free again.
                discarding_at INTEGER,
                reported INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            CREATE TRIGGER webhook_delivery_added AFTER INSERT ON webhook_delivery
            WHEN NEW.owner IS NOT NULL AND NEW.next_try_at IS NOT NULL BEGIN
                INSERT INTO owner_deliveries (owner, bytes) VALUES (NEW.owner, length(CAST(NEW.body AS BLOB)) + 256)
                    ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER webhook_delivery_given_up AFTER UPDATE OF next_try_at ON webhook_delivery
            WHEN OLD.owner IS NOT NULL AND OLD.next_try_at IS NOT NULL AND NEW.next_try_at IS NULL BEGIN
                UPDATE owner_deliveries SET bytes = bytes - length(CAST(OLD.body AS BLOB)) - 256
                    WHERE owner = OLD.owner;
            END;
            CREATE TRIGGER webhook_delivery_removed AFTER DELETE ON webhook_delivery
            WHEN OLD.owner IS NOT NULL AND OLD.next_try_at IS NOT NULL BEGIN
                UPDATE owner_deliveries SET bytes = bytes - length(CAST(OLD.body AS BLOB)) - 256
                    WHERE owner = OLD.owner;
            END;

            CREATE INDEX cache_entry_owner_used ON cache_entry (owner, last_used_at, length);
            """)
}
