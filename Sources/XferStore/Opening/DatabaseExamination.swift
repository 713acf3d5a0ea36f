import GRDB

/// SQLite's findings about an open database before the program uses it. An examination writes nothing.
struct DatabaseExamination {
    /// The number of the last migration, 0 for a blank database.
    let version: Int
    /// True if the schema is as the last migration left it. If not, it is still intact: an older program created it, or
    /// VACUUM or another tool changed it.
    let isSealed: Bool

    /// - Parameter inLog: the schema version that the log leaves; nil if there is no log, or if it does not contain the
    ///   version.
    /// - Throws: `foreignFile`, `newerDatabase`, `olderDatabase`; `damaged` if statements would read other rows than
    ///   the tables have.
    init(_ db: Database, path: String, inLog: Int?) throws {
        version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let isBlank = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0
        guard application == Migration.applicationID || isBlank else { throw StoreError.foreignFile(path: path) }
        guard version <= Migration.newest else {
            throw StoreError.newerDatabase(path: path, found: version, known: Migration.newest)
        }
        guard version >= inLog ?? 0 else {
            throw StoreError.damaged([
                "SQLite reads schema \(version) from \(path), expected \(inLog ?? 0) from its log \(path)-wal"
            ])
        }
        if isBlank {
            isSealed = true
            return
        }
        let taken = try Int.fetchOne(db, sql: "SELECT max(number) FROM migration") ?? 0
        guard taken == version else {
            throw StoreError.damaged(["the schema has number \(version), expected \(taken) after its last migration"])
        }
        try Self.refuseOlder(version: version, path: path)
        let isIntact = try SchemaSeal.isIntact(db)
        isSealed = isIntact ?? false
        if !isSealed { try Self.refuseDamagedSchema(db, version: version, wasSealed: isIntact != nil) }
        try Self.refuseLostTasks(db)
    }

    /// Refuses a schema that no migration of this program starts from.
    static func refuseOlder(version: Int, path: String) throws(StoreError) {
        guard version >= Migration.first else {
            throw .olderDatabase(path: path, found: version, oldest: Migration.first)
        }
    }

    /// Reads the whole database if root pages are not as they were recorded.
    private static func refuseDamagedSchema(_ db: Database, version: Int, wasSealed: Bool) throws {
        var faults = try IntegrityCheck.lostObjects(db, version: version) + IntegrityCheck.sharedRoots(db)
        if faults.isEmpty, wasSealed, try !SchemaSeal.hasRecordedRoots(db) {
            faults = try IntegrityCheck.contentFaults(db)
        }
        if !faults.isEmpty { throw StoreError.damaged(faults) }
    }

    /// Checks for a damaged upper page of a table, which can hide all of its rows without an error.
    private static func refuseLostTasks(_ db: Database) throws {
        let counted = try Int.fetchOne(
            db,
            sql: """
                SELECT total(count) FROM task_count
                WHERE owner = ?1 AND group_name = ?2 AND count > 0 AND NOT EXISTS (SELECT 1 FROM task NOT INDEXED)
                """, arguments: [CountScope.allOwners, CountScope.allGroups])
        guard let counted, counted > 0 else { return }
        throw StoreError.damaged(["the table task has no row, expected \(counted)"])
    }
}
