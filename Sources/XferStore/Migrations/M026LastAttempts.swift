extension Migration {
    /// Adds how the last attempt of a task went: address, protocol and times.
    static let lastAttempts = Migration(
        name: "last attempts",
        sql: """
            ALTER TABLE task ADD COLUMN last_attempt TEXT;
            """)
}
