extension Migration {
    /// Allows a row to contain several successive events of a task. Its `seq` and `type` are those of the last one.
    static let eventSeries = Migration(
        name: "event series",
        sql: """
            ALTER TABLE event ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
            """)
}
