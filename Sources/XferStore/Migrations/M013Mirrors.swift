extension Migration {
    /// Tasks with several sources of the same bytes.
    static let mirrors = Migration(
        name: "mirrors",
        sql: """
            -- Which of the task's sources the kept bytes are from: the position of the one that is described, and a bit
            -- for each that sent some. 0 and 1 where there is only one.
            ALTER TABLE transfer ADD COLUMN source INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE transfer ADD COLUMN senders INTEGER NOT NULL DEFAULT 1;
            -- Whether only a digest shows that they are of one version.
            ALTER TABLE transfer ADD COLUMN needs_digest INTEGER NOT NULL DEFAULT 0;
            -- A bit for each source that had a part in bytes whose digest was wrong, and for each that sent all of them.
            ALTER TABLE transfer ADD COLUMN suspects INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE transfer ADD COLUMN condemned INTEGER NOT NULL DEFAULT 0;
            """)
}
