extension Migration {
    /// The media type of kept bytes, and the latest answer that did not resemble them.
    static let answerDoubts = Migration(
        name: "answer doubts",
        sql: """
            ALTER TABLE transfer ADD COLUMN media_type TEXT;
            -- The signature of the answer, and how often it came in a row. Both are null where no answer is doubted.
            ALTER TABLE transfer ADD COLUMN doubt TEXT;
            ALTER TABLE transfer ADD COLUMN doubt_count INTEGER;
            """)
}
