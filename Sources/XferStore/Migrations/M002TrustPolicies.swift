extension Migration {
    /// Trust policies, and which one a task asks for besides its host's.
    static let trustPolicies = Migration(
        name: "trust policies",
        sql: """
            -- AUTOINCREMENT: a version is never given twice, not even after its policy was removed.
            CREATE TABLE policy (
                version INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT NOT NULL UNIQUE,
                -- Written in the configuration file, not over RPC.
                is_configured INTEGER NOT NULL,
                policy TEXT NOT NULL,
                -- Days before its expiry of the last warning that was given.
                warned INTEGER
            ) STRICT;

            ALTER TABLE task ADD COLUMN policy TEXT;
            CREATE INDEX task_policy ON task (policy)
                WHERE policy IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
            """)
}
