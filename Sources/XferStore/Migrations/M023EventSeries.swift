extension Migration {
    /// Lets a row have several events of a task that follow each other. Its `seq` and `type` are those of the last one.
    static let eventSeries = Migration(
        name: "event series",
        sql: """
            ALTER TABLE event ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
            """)
}
