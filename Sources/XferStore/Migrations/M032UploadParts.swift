extension Migration {
    /// Adds the parts of uploads that are sent at the same time, each with a resource of its own on the server.
    static let uploadParts = Migration(
        name: "upload parts",
        sql: """
            CREATE TABLE upload_part (
                transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
                part INTEGER NOT NULL,
                url TEXT NOT NULL,
                "offset" INTEGER NOT NULL,
                expires_at INTEGER,
                largest_append INTEGER,
                PRIMARY KEY (transfer_id, part)
            ) STRICT, WITHOUT ROWID;
            """)
}
