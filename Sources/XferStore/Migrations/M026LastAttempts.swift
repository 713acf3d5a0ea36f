extension Migration {
    /// Adds a record of the last attempt of a task: address, protocol and times.
    static let lastAttempts = Migration(
        name: "last attempts",
        sql: """
            ALTER TABLE task ADD COLUMN last_attempt TEXT;
            """)
}
