extension Migration {
    /// Which tasks may share a transfer.
    static let coalescing = Migration(
        name: "coalescing",
        sql: """
            -- Null shares with nobody: so do tasks of earlier programs.
            ALTER TABLE task ADD COLUMN coalesce_key BLOB;
            -- Who may join a transfer that runs.
            CREATE INDEX task_coalescing ON task (coalesce_key, id) WHERE coalesce_key IS NOT NULL AND state = 'queued';
            -- Whose bytes somebody new may continue.
            CREATE INDEX task_sharing ON task (coalesce_key) WHERE coalesce_key IS NOT NULL AND transfer_id IS NOT NULL;
            """)
}
