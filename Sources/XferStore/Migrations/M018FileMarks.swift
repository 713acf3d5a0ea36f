extension Migration {
    /// Marks that identify a written file: an inode number alone may be reused at once.
    static let fileMarks = Migration(
        name: "file marks",
        sql: """
            -- Which file holds the committed bytes. Length and time are null while it may be written to. All are null before
            -- the first checkpoint, and of what an earlier version committed.
            ALTER TABLE transfer ADD COLUMN part_device INTEGER;
            ALTER TABLE transfer ADD COLUMN part_inode INTEGER;
            ALTER TABLE transfer ADD COLUMN part_born_at INTEGER;
            ALTER TABLE transfer ADD COLUMN part_generation INTEGER;
            ALTER TABLE transfer ADD COLUMN part_length INTEGER;
            ALTER TABLE transfer ADD COLUMN part_modified_at INTEGER;
            -- What else is known of the file that is being published. Null in intents of an earlier version, which prove nothing.
            ALTER TABLE transfer ADD COLUMN publish_born_at INTEGER;
            ALTER TABLE transfer ADD COLUMN publish_generation INTEGER;
            ALTER TABLE transfer ADD COLUMN publish_length INTEGER;
            ALTER TABLE transfer ADD COLUMN publish_modified_at INTEGER;
            ALTER TABLE transfer ADD COLUMN publish_changed_at INTEGER;
            ALTER TABLE transfer ADD COLUMN publish_digest TEXT;

            ALTER TABLE ready_file ADD COLUMN born_at INTEGER;
            ALTER TABLE ready_file ADD COLUMN generation INTEGER;

            ALTER TABLE published_file ADD COLUMN born_at INTEGER;
            ALTER TABLE published_file ADD COLUMN generation INTEGER;
            ALTER TABLE published_file ADD COLUMN modified_at INTEGER;
            """)
}
