extension Migration {
    /// Adds the directory beneath which tasks of a token write; null is `download.dir`.
    static let tokenDirectories = Migration(
        name: "token directories",
        sql: """
            ALTER TABLE token ADD COLUMN directory TEXT;
            """)
}
