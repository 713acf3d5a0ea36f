extension Migration {
    /// Responses that are kept. Their content lies in the cache directory.
    static let cache = Migration(
        name: "cache",
        sql: """
            -- AUTOINCREMENT: an id that was removed never means another response.
            CREATE TABLE cache_entry (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                -- Digest of the cache key; several rows where responses vary.
                key BLOB NOT NULL,
                -- Digests of the URLs alone, to find what a change makes doubtful.
                url_digest BLOB NOT NULL,
                final_url_digest BLOB NOT NULL,
                owner INTEGER NOT NULL,
                -- Name of the file with the content, as it was received.
                blob TEXT NOT NULL UNIQUE,
                url TEXT NOT NULL,
                final_url TEXT NOT NULL,
                status INTEGER NOT NULL,
                -- Header fields, JSON.
                fields TEXT,
                -- The request fields that Vary names, values as digests, JSON.
                variant TEXT,
                request_time INTEGER NOT NULL,
                response_time INTEGER NOT NULL,
                -- Of the content: bytes, and SHA-256.
                length INTEGER NOT NULL,
                digest BLOB NOT NULL,
                stored_at INTEGER NOT NULL,
                last_used_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX cache_entry_key ON cache_entry (key);
            CREATE INDEX cache_entry_url ON cache_entry (url_digest);
            CREATE INDEX cache_entry_final_url ON cache_entry (final_url_digest);
            CREATE INDEX cache_entry_owner ON cache_entry (owner, id, length);
            CREATE INDEX cache_entry_used ON cache_entry (last_used_at, length);

            -- Who sent it, as transfer_source.
            CREATE TABLE cache_source (
                id INTEGER PRIMARY KEY,
                entry_id INTEGER NOT NULL REFERENCES cache_entry (id) ON DELETE CASCADE,
                scheme TEXT NOT NULL,
                host TEXT NOT NULL,
                port INTEGER NOT NULL,
                chain TEXT NOT NULL,
                tls TEXT,
                judgement TEXT NOT NULL
            ) STRICT;
            CREATE INDEX cache_source_entry ON cache_source (entry_id);
            """)
}
