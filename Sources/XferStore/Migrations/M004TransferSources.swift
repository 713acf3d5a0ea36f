extension Migration {
    /// The servers that sent kept bytes, to judge them again when trust policies have changed.
    static let transferSources = Migration(
        name: "transfer sources",
        sql: """
            -- None where only the built-in default policy judged and no run has ended since.
            CREATE TABLE transfer_source (
                id INTEGER PRIMARY KEY,
                transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
                scheme TEXT NOT NULL,
                host TEXT NOT NULL,
                port INTEGER NOT NULL,
                -- Certificates the server showed: DER as base64, leaf first, with spaces between.
                chain TEXT NOT NULL,
                tls TEXT,
                -- Versions of the policies that believed it.
                judgement TEXT NOT NULL
            ) STRICT;
            CREATE INDEX transfer_source_transfer ON transfer_source (transfer_id);
            """)
}
