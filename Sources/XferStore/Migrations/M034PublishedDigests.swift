extension Migration {
    /// The digests of published files.
    static let publishedDigests = Migration(
        name: "published digests",
        sql: """
            -- NULL until one is known: of a publish that verified none it is computed by the first verification.
            ALTER TABLE published_file ADD COLUMN digest TEXT;
            """)
}
