extension Migration {
    /// Makes changes of a task's state cheap. It only edits the schema, since no row and no index entry changes
    /// (https://sqlite.org/lang_altertable.html#otheralter).
    static let cheapStates = Migration(
        name: "cheap states",
        sql: """
            PRAGMA writable_schema = ON;
            -- A foreign key's check makes SQLite keep a copy of every page that a statement touches, in case it has to be
            -- undone. Who deletes a transfer takes it from its tasks.
            UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES transfer (id) ON DELETE SET NULL', '')
                WHERE type = 'table' AND name = 'task';
            -- For a list of three SQLite makes a table, each time, for the row as it was and as it is.
            UPDATE sqlite_schema SET sql = replace(sql, 'state IN (''completed'', ''failed'', ''cancelled'')',
                    'state = ''completed'' OR state = ''failed'' OR state = ''cancelled''')
                WHERE type = 'index' AND name = 'task_finished';
            PRAGMA writable_schema = RESET;
            """)
}
