extension Migration {
    /// Makes the removal of tasks cheap, as `cheapStates` does for changes of their states. It only edits the schema.
    static let cheapRemovals = Migration(
        name: "cheap removals",
        sql: """
            PRAGMA writable_schema = ON;
            -- For each deleted task SQLite looked into seven tables, which took longer than the deletion. Who deletes a
            -- task deletes what depends on it.
            UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES task (id) ON DELETE CASCADE', '')
                WHERE type = 'table';
            PRAGMA writable_schema = RESET;
            """)
}
