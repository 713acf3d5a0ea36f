import GRDB
import GRDBSQLite
import Glibc

/// A damaged database, opened directly if that works, else as a copy with its header and schema restored. The damaged
/// files are only read.
final class SalvageSource {
    let queue: DatabaseQueue
    private let copy: String?
    private let path: String
    private let hadLog: Bool

    /// Opens the damaged database. Returns nil when none of it can be read.
    init?(_ path: String, header: [UInt8], _ losses: inout [String]) {
        self.path = path
        hadLog = DatabaseFile.hasLog(path)
        if let whole = Self.open(path), (try? Self.isWhole(whole)) == true {
            queue = whole
            copy = nil
            return
        }
        let copy = path + ".salvaging"
        do {
            try Self.remove(copy)
            for suffix in ["", "-wal"] where access(path + suffix, F_OK) == 0 {
                try Self.copyFile(path + suffix, to: copy + suffix)
            }
            try Self.mendHeader(of: copy, header)
            losses += try Self.mendSchema(of: copy)
        } catch {
            losses.append("a copy to read it from could not be made: \(StoreError(from: error))")
        }
        guard let mended = Self.open(copy),
            (try? mended.inDatabase { try ReferenceSchema.objects(of: $0).isEmpty }) == false
        else {
            try? Self.remove(copy)
            return nil
        }
        queue = mended
        self.copy = copy
    }

    func close() {
        try? queue.close()
        if let copy { try? Self.remove(copy) }
        // SQLite made them while reading.
        if !hadLog { for suffix in ["-wal", "-shm"] { unlink(path + suffix) } }
    }

    private static func open(_ path: String) -> DatabaseQueue? {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.readonly = true
        // SQLite deletes the log of an empty database.
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return nil }
        return try? DatabaseQueue(path: path, configuration: configuration)
    }

    /// True if all of the schema is the one that this program creates, and its root pages are correct.
    private static func isWhole(_ queue: DatabaseQueue) throws -> Bool {
        try queue.inDatabase { db in
            let found = try ReferenceSchema.objects(of: db)
            guard let reference = try ReferenceSchema.best(for: found), reference.differences(from: found).isEmpty
            else { return false }
            // VACUUM may have moved root pages.
            return try IntegrityCheck.sharedRoots(db).isEmpty
                && (SchemaSeal.hasRecordedRoots(db) || IntegrityCheck.contentFaults(db).isEmpty)
        }
    }

    // MARK: Mending a copy

    /// Copies the fixed part of an intact database's header to the first page, or a whole page when there is none.
    /// SQLite then reads the log's pages over it (https://sqlite.org/fileformat2.html#the_database_header).
    private static func mendHeader(of path: String, _ good: [UInt8]) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DatabaseFile.failure(path) }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw DatabaseFile.failure(path) }
        let pageSize = Int(clamping: good[16]) << 8 | Int(clamping: good[17])
        if status.st_size < pageSize {
            guard pwrite(descriptor, good, good.count, 0) == good.count else { throw DatabaseFile.failure(path) }
            return
        }
        var header = Array(good[0..<100])
        guard pread(descriptor, &header, 100, 0) == 100 else { throw DatabaseFile.failure(path) }
        // Magic, page size, formats and fractions; later the schema's format and the encoding of texts.
        header[0..<24] = good[0..<24]
        header[44..<48] = good[44..<48]
        header[56..<60] = good[56..<60]
        // How many pages there are.
        let pages = UInt32(clamping: Int(clamping: status.st_size) / pageSize)
        for (index, shift) in [24, 16, 8, 0].enumerated() {
            header[28 + index] = UInt8(truncatingIfNeeded: pages >> shift)
        }
        header[92..<96] = header[24..<28]
        // The free list is of no use to a reader.
        header[32..<40] = [0, 0, 0, 0, 0, 0, 0, 0]
        guard pwrite(descriptor, header, 100, 0) == 100 else { throw DatabaseFile.failure(path) }
    }

    /// Restores every definition of the schema, and the recorded root pages. Indexes are dropped: no query here uses
    /// them, and they may be damaged. Returns the definitions that could not be restored.
    private static func mendSchema(of path: String) throws -> [String] {
        let connection = try RawConnection(path)
        try connection.run("PRAGMA writable_schema = ON")
        let found = try connection.objects()
        guard let reference = try ReferenceSchema.best(for: found) else { return [] }
        let places = reference.places(in: found)
        try connection.run("BEGIN")
        for case (let object, let found?) in places {
            try connection.run(
                "UPDATE sqlite_schema SET type = ?2, name = ?3, tbl_name = ?4, sql = ?5 WHERE rowid = ?1",
                [.integer(found.row), Value(object.type), Value(object.name), Value(object.table), Value(object.sql)])
        }
        let known = JSONText.array(places.compactMap { $0.found?.row })
        try connection.run(
            """
            DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
                OR rowid NOT IN (SELECT value FROM json_each(?1))
            """, [.text(known)])
        try connection.run("PRAGMA user_version = \(reference.version)")
        try connection.run("PRAGMA application_id = \(Migration.applicationID)")
        try connection.run("COMMIT")
        let missing = places.filter { $0.found == nil && $0.object.type == "table" }.map(\.object)
        return try mendRoots(of: path, missing: missing).map { "\($0.name ?? "?"): not found" }
    }

    /// Restores root pages that differ from the recorded ones, and tables that are missing. Returns those that it
    /// cannot restore.
    private static func mendRoots(
        of path: String, missing: [ReferenceSchema.Object]
    ) throws -> [ReferenceSchema.Object] {
        // A connection that reads the mended schema.
        let connection = try RawConnection(path)
        try connection.run("PRAGMA writable_schema = ON")
        let present = Dictionary(try connection.roots(SchemaSeal.presentRoots).map { ($0.name, $0.page) }) { $1 }
        var recorded = (try? connection.roots(SchemaSeal.recordedRoots)) ?? []
        if recorded.count < present.count { recorded = recordedRoots(inPagesOf: path) }
        let moved = recorded.filter { root in present[root.name] != nil && present[root.name] != root.page }
        // If so many differ, VACUUM moved them after they were recorded.
        guard moved.count <= mostDamagedRoots else { return missing }
        try connection.run("BEGIN")
        for root in moved {
            try connection.run(
                "UPDATE sqlite_schema SET rootpage = ?2 WHERE name = ?1", [.text(root.name), .integer(root.page)])
        }
        var lost: [ReferenceSchema.Object] = []
        for object in missing {
            guard let root = recorded.first(where: { $0.name == object.name }) else {
                lost.append(object)
                continue
            }
            try connection.run(
                "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5)",
                [Value(object.type), Value(object.name), Value(object.table), .integer(root.page), Value(object.sql)])
        }
        try connection.run("COMMIT")
        return lost
    }

    /// The highest number of different root pages that is considered damage.
    private static let mostDamagedRoots = 16

    /// The recorded root pages, found without the table that keeps them; none if they are not found.
    private static func recordedRoots(inPagesOf path: String) -> [RootPage] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { Glibc.close(descriptor) }
        // The table is the first that the migrations make.
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0, let start = bytes[..<count].firstRange(of: Array("{\"migration\":".utf8))?.lowerBound,
            let end = bytes[start..<count].firstIndex(of: UInt8(ascii: "}")),
            let roots = JSONText.decode([String: Int64].self, from: String(decoding: bytes[start...end], as: UTF8.self))
        else { return [] }
        return roots.map { RootPage(name: $0.key, page: $0.value) }
    }

    // MARK: Files

    private static func remove(_ path: String) throws(StoreError) {
        for suffix in ["", "-wal", "-shm", "-journal"] where unlink(path + suffix) != 0 && errno != ENOENT {
            throw DatabaseFile.failure(path + suffix)
        }
    }

    private static func copyFile(_ path: String, to copy: String) throws(StoreError) {
        let source = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw DatabaseFile.failure(path) }
        defer { Glibc.close(source) }
        let target = Glibc.open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw DatabaseFile.failure(copy) }
        defer { Glibc.close(target) }
        while true {
            let count = sendfile(target, source, nil, 1 << 20)
            guard count >= 0 else { throw DatabaseFile.failure(copy) }
            if count == 0 { return }
        }
    }
}

/// A connection that reads nothing before a statement runs: GRDB reads the schema when it opens a file.
private final class RawConnection {
    private let pointer: OpaquePointer

    init(_ path: String) throws(StoreError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw StoreError(code: code, message: "the copy cannot be opened")
        }
        pointer = opened
    }

    deinit { sqlite3_close_v2(pointer) }

    func run(_ sql: String, _ values: [Value] = []) throws(StoreError) { _ = try step(sql, values) { _ in } }

    func objects() throws(StoreError) -> [ReferenceSchema.Object] {
        try step(ReferenceSchema.query, []) { ReferenceSchema.Object(ResultRow(pointer: $0)) }
    }

    func roots(_ sql: String) throws(StoreError) -> [RootPage] {
        try step(sql, []) { RootPage(ResultRow(pointer: $0)) }
    }

    private func step<T>(_ sql: String, _ values: [Value], _ read: (OpaquePointer) -> T) throws(StoreError) -> [T] {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(pointer, sql, -1, &prepared, nil) == SQLITE_OK, let statement = prepared else {
            throw failure
        }
        defer { sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            guard value.bind(to: statement, at: Int32(clamping: index + 1)) == SQLITE_OK else { throw failure }
        }
        var found: [T] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: found.append(read(statement))
            case SQLITE_DONE: return found
            default: throw failure
            }
        }
    }

    private var failure: StoreError {
        StoreError(code: sqlite3_extended_errcode(pointer), message: String(cString: sqlite3_errmsg(pointer)))
    }
}
