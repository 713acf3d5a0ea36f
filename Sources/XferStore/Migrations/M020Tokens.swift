extension Migration {
    /// Tokens of clients on the network.
    static let tokens = Migration(
        name: "tokens",
        sql: """
            -- AUTOINCREMENT: a revoked token and a later one are never mistaken for each other.
            CREATE TABLE token (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT NOT NULL UNIQUE,
                -- SHA-256 of the token, which is 256 random bits, so its digest does not reveal it.
                digest BLOB NOT NULL UNIQUE,
                owner INTEGER NOT NULL,
                scope TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                -- Null is never.
                expires_at INTEGER
            ) STRICT;
            """)
}
