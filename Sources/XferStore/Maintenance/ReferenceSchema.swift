import GRDB

/// The schema that this program's migrations create: the expected schema for a database of a given version.
///
/// The same migrations run in every database, so an object's row of `sqlite_schema` is equal in all of them except for
/// its root page. Only the row's number differs, too, in databases that 1.0.0-rc.1 made: see `Migration.firstRelease`.
struct ReferenceSchema {
    /// A row of `sqlite_schema` without its root page.
    struct Object {
        struct Definition: Hashable {
            let type: String?
            let name: String?
            let table: String?
            let sql: String?
        }

        let row: Int64
        let definition: Definition

        var type: String? { definition.type }
        var name: String? { definition.name }
        var table: String? { definition.table }
        var sql: String? { definition.sql }

        /// Reads a row of `query`.
        init(_ found: ResultRow) {
            row = found.integer(0)
            definition = Definition(
                type: found.optionalText(1), name: found.optionalText(2), table: found.optionalText(3),
                sql: found.optionalText(4))
        }
    }

    /// The number of the last migration that makes this schema.
    let version: Int
    let objects: [Object]

    static let query = "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid"

    /// The schemas of all versions, the newest last.
    static func all() throws -> [ReferenceSchema] {
        let queue = try DatabaseQueue()
        return try queue.inDatabase { db in
            try Migration.missing(after: 0).map { number, migration in
                try db.execute(sql: migration.sql)
                return ReferenceSchema(version: number, objects: try objects(of: db))
            }
        }
    }

    static func objects(of db: Database) throws(StoreError) -> [Object] {
        try Connection(db).all(composed: query, []) { Object($0) }
    }

    /// The version that fits these objects best, the newest if several fit equally; nil if none fits.
    static func best(for found: [Object]) throws -> ReferenceSchema? {
        let candidates = try all().map { (schema: $0, matches: $0.matches(found)) }
        guard let best = candidates.max(by: { $0.matches < $1.matches || $0.matches == $1.matches }), best.matches > 0
        else { return nil }
        return best.schema
    }

    /// Describes the objects that differ, are missing, or are not this program's.
    func differences(from found: [Object]) -> [String] {
        let places = places(in: found)
        let known = Set(places.compactMap { $0.found?.row })
        let unknown = found.filter { !known.contains($0.row) }
        return Self.losses(places) + unknown.map { "the schema has an unknown row \($0.row)" }
    }

    /// Describes the objects that differ or are missing.
    func losses(in found: [Object]) -> [String] { Self.losses(places(in: found)) }

    private static func losses(_ places: [(object: Object, found: Object?)]) -> [String] {
        places.filter { $0.found?.definition != $0.object.definition }.map { place in
            "the \(place.object.type ?? "object") \(place.object.name ?? "?") is missing or differs from this program's schema"
        }
    }

    /// Assigns to each object the row that was found for it; nil if there is none.
    ///
    /// An intact object is identified by its whole definition, a damaged one by the columns that are still readable.
    /// The last criterion is the row number, which is the order of the migrations unless VACUUM or 1.0.0-rc.1 made
    /// another.
    func places(in found: [Object]) -> [(object: Object, found: Object?)] {
        var free = found
        var places: [(object: Object, found: Object?)] = objects.map { ($0, nil) }
        let likenesses: [(Object, Object) -> Bool] = [
            { $0.definition == $1.definition },
            { $0.type == $1.type && $0.name == $1.name },
            { $0.name == $1.name || $0.sql != nil && $0.sql == $1.sql },
            { $0.row == $1.row },
        ]
        for isAlike in likenesses {
            for index in places.indices where places[index].found == nil {
                guard let match = free.firstIndex(where: { isAlike($0, places[index].object) }) else { continue }
                places[index].found = free.remove(at: match)
            }
        }
        return places
    }

    private func matches(_ found: [Object]) -> Int {
        let definitions = Set(found.map(\.definition))
        return objects.count { definitions.contains($0.definition) } - abs(found.count - objects.count)
    }
}
