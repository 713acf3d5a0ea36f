extension Migration {
    /// A task names its transfer without a foreign key.
    static let taskTransfers = Migration(
        name: "task transfers",
        sql: """
            -- The key's check made SQLite keep a copy of every page that a change of a task's state touches, in case it had
            -- to be undone: four fifths of what that statement cost. Who deletes a transfer takes it from its tasks.
            -- That no row changes makes this the way (https://sqlite.org/lang_altertable.html#otheralter).
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES transfer (id) ON DELETE SET NULL', '')
                WHERE type = 'table' AND name = 'task';
            PRAGMA writable_schema = RESET;
            """)
}
