extension Migration {
    /// Background operations that change tasks' fields.
    static let updateOperations = Migration(
        name: "update operations",
        sql: """
            -- Of verb 'update': the fields to change, and the caller's rights, as JSON.
            ALTER TABLE operation ADD COLUMN changes TEXT;
            ALTER TABLE operation ADD COLUMN rights TEXT;
            """)
}
