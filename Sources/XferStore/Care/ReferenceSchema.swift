import GRDB

/// The schema that this program's migrations make: what the schema of a database of a given version has to be.
///
/// Every database takes the same migrations in the same order, so an object has the same row of `sqlite_schema` in all
/// of them; only its root page differs.
struct ReferenceSchema {
    /// A row of `sqlite_schema` without its root page.
    struct Object: Equatable {
        let row: Int64
        let type: String?
        let name: String?
        let table: String?
        let sql: String?

        /// From a row of `query`.
        init(_ found: ResultRow) {
            row = found.integer(0)
            type = found.optionalText(1)
            name = found.optionalText(2)
            table = found.optionalText(3)
            sql = found.optionalText(4)
        }
    }

    /// Number of migrations taken.
    let version: Int
    let objects: [Object]

    static let query = "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid"

    /// The schemas of all versions, the newest last.
    static func all() throws -> [ReferenceSchema] {
        let queue = try DatabaseQueue()
        return try queue.inDatabase { db in
            try Migration.all.enumerated().map { index, migration in
                try db.execute(sql: migration.sql)
                return ReferenceSchema(version: index + 1, objects: try objects(of: db))
            }
        }
    }

    static func objects(of db: Database) throws(StoreError) -> [Object] {
        try Connection(db).all(composed: query, []) { Object($0) }
    }

    /// The version that most of these objects belong to, the newest among equals; nil when none of them is known.
    static func best(for found: [Object]) throws -> ReferenceSchema? {
        let candidates = try all().map { (schema: $0, matches: $0.matches(found)) }
        guard let best = candidates.max(by: { $0.matches < $1.matches || $0.matches == $1.matches }), best.matches > 0
        else { return nil }
        return best.schema
    }

    /// Objects that differ, are missing, or are not this program's.
    func differences(from found: [Object]) -> [String] {
        let others = Dictionary(found.map { ($0.row, $0) }) { first, _ in first }
        let known = Set(objects.map(\.row))
        let missing = objects.filter { others[$0.row] != $0 }.map {
            "the \($0.type ?? "object") \($0.name ?? "?") is not in the schema as this program makes it"
        }
        return missing + found.filter { !known.contains($0.row) }.map { "the schema has an unknown row \($0.row)" }
    }

    private func matches(_ found: [Object]) -> Int {
        let others = Dictionary(found.map { ($0.row, $0) }) { first, _ in first }
        return objects.count { others[$0.row] == $0 } - abs(found.count - objects.count)
    }
}
