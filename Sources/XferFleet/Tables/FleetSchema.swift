/// The schema of the database, and its migration to this program's schema.
enum FleetSchema {
    /// The version of the schema that this program creates.
    static var known: Int { FleetMigration.newest }

    /// The number of the last step taken, and of the last that a program must know; nil without tables.
    private struct Found {
        let schema: Int
        let minimum: Int
    }

    private static func found(_ result: PostgresResult) throws(PostgresError) -> Found? {
        guard let row = result.first else { return nil }
        return Found(schema: Int(clamping: try row.integer(0)), minimum: Int(clamping: try row.integer(1)))
    }

    private static let exists = "SELECT 1 WHERE to_regclass('fleet_meta') IS NOT NULL"
    private static let read = "SELECT schema, minimum FROM fleet_meta"

    /// Refuses tables that are older than this program's, and newer ones that it must not touch.
    static func check(_ connection: PostgresConnection) async throws(FleetError) {
        guard try await connection.run(exists).count > 0 else { throw .notMigrated(found: 0, known: known) }
        let answer = try await connection.run(read)
        let found = try answer.one { (row) throws(PostgresError) in
            Found(schema: Int(clamping: try row.integer(0)), minimum: Int(clamping: try row.integer(1)))
        }
        if found.schema < known { throw .notMigrated(found: found.schema, known: known) }
        if found.minimum > known { throw .newerSchema(found: found.schema, minimum: found.minimum, known: known) }
    }

    /// Takes the steps that are missing, all in one transaction.
    static func migrate(_ connection: PostgresConnection) async throws(FleetError) -> (from: Int, to: Int) {
        let found: Found?
        do throws(PostgresError) {
            found = try await connection.transaction { (transaction) throws(PostgresError) -> Found? in
                _ = try transaction.execute("SELECT pg_advisory_xact_lock(8677126453)")
                let isThere = try transaction.execute(exists).count > 0
                let found = isThere ? try Self.found(try transaction.execute(read)) : nil
                let from = found?.schema ?? 0
                guard from < known, from == 0 || from >= FleetMigration.first else { return found }
                for statement in FleetMigration.statements(after: from) { _ = try transaction.execute(statement) }
                let write =
                    found == nil
                    ? "INSERT INTO fleet_meta (schema, minimum) VALUES ($1::integer, $2::integer)"
                    : "UPDATE fleet_meta SET schema = $1::integer, minimum = $2::integer"
                _ = try transaction.execute(write, [String(known), String(FleetMigration.minimum)])
                return found
            }
        } catch {
            throw .database(error)
        }
        if let found, found.minimum > known {
            throw .newerSchema(found: found.schema, minimum: found.minimum, known: known)
        }
        if let found, found.schema < FleetMigration.first {
            throw .olderSchema(found: found.schema, oldest: FleetMigration.first)
        }
        return (found?.schema ?? 0, max(found?.schema ?? 0, known))
    }
}
