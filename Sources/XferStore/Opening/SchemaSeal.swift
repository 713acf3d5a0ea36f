import GRDB

/// A digest over all rows of `sqlite_schema` as the last migration left them, and the root pages that they refer to.
///
/// SQLite does not doubt these rows. If a root page is damaged, a statement reads the rows of another table, or none,
/// and reports no error. Both are texts in the table `migration`, whose highest number every start compares with the
/// header: so a start also detects if this table is in another place.
enum SchemaSeal {
    /// The number of the row with the digest.
    private static let digestRow = 0
    /// The number of the row with the root pages by name, as JSON.
    private static let rootsRow = -1

    /// Records the present schema. Call it in the transaction that changed it.
    static func renew(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO migration (number, name) VALUES (\(digestRow), ?), (\(rootsRow),
                    (SELECT json_group_object(name, rootpage) FROM sqlite_schema WHERE rootpage > 0))
                ON CONFLICT DO UPDATE SET name = excluded.name, applied_at = excluded.applied_at
                """, arguments: [String(try digest(of: db))])
    }

    /// True if the schema equals the recorded one; nil if none was recorded.
    static func isIntact(_ db: Database) throws(StoreError) -> Bool? {
        let statement = "SELECT name FROM migration WHERE number = \(digestRow)"
        let kept = try Connection(db).all(composed: statement, []) { $0.text(0) }.first
        guard let kept else { return nil }
        return kept == String(try digest(of: db))
    }

    private static func digest(of db: Database) throws(StoreError) -> Int64 {
        var hash = Fingerprint()
        let statement = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid"
        _ = try Connection(db).all(composed: statement, []) { row in
            for column in Int32(0)..<5 { hash.add(textOf: row, column) }
        }
        return hash.value
    }

    // MARK: Root pages

    /// The recorded root pages, in rows of name and page.
    static let recordedRoots = """
        SELECT json_each.key, json_each.value FROM migration, json_each(migration.name) WHERE number = \(rootsRow)
        """
    /// The present ones, too.
    static let presentRoots = "SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"

    /// True if every recorded table and index has the root page that was recorded.
    static func hasRecordedRoots(_ db: Database) throws(StoreError) -> Bool {
        let connection = Connection(db)
        func roots(_ statement: String) throws(StoreError) -> Set<RootPage> {
            Set(try connection.all(composed: statement, []) { RootPage($0) })
        }
        let recorded = try roots(recordedRoots)
        let present = try roots(presentRoots)
        return !recorded.isEmpty && recorded.isSubset(of: present)
    }
}

/// The first page of a table or index.
struct RootPage: Hashable {
    let name: String
    let page: Int64

    init(_ row: ResultRow) {
        name = row.text(0)
        page = row.integer(1)
    }

    init(name: String, page: Int64) {
        self.name = name
        self.page = page
    }
}

extension Fingerprint {
    /// Adds a column as text, and its end.
    fileprivate mutating func add(textOf row: ResultRow, _ column: Int32) {
        row.withText(column) { bytes in for byte in bytes { add(byte) } }
        // No text in UTF-8 has this byte.
        add(0xFF)
    }
}
