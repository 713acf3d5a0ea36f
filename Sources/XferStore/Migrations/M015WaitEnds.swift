extension Migration {
    /// When waits end, by their reasons.
    static let waitEnds = Migration(
        name: "wait ends",
        sql: """
            -- Waits that end too late are found without looking at those that do not, or have no end.
            CREATE INDEX task_wait_end ON task (wait_reason, wait_until) WHERE wait_until IS NOT NULL;
            """)
}
