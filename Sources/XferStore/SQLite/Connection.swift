import GRDB
import GRDBSQLite

/// A database connection with the functions that queries need. Use it only on the queue of its GRDB connection.
///
/// Statements come from GRDB's cache and are then bound and stepped directly (`Statement.sqliteStatement`). A task
/// needs about fifteen statements until it ends, and for them GRDB's `StatementArguments` and `Row` would cost more
/// time than SQLite.
final class Connection {
    let database: Database
    /// The key is the address of a literal, so that long texts are not hashed.
    private var prepared: [UnsafePointer<UInt8>: Statement] = [:]
    /// The error for which SQLite rolled the whole transaction back (https://sqlite.org/lang_transaction.html,
    /// "Response To Errors Within A Transaction").
    ///
    /// Until the next transaction every statement fails with this error. Otherwise SQLite would commit the further
    /// statements of a change-set that ignored the error, each in a transaction of its own.
    private(set) var abortion: StoreError?
    private let handle: OpaquePointer?
    /// The listener's pointer, which SQLite keeps until `end`.
    private var listener: Unmanaged<RowChangeTarget>?

    init(_ database: Database) {
        self.database = database
        handle = database.sqliteConnection
    }

    /// Runs a statement that returns no rows.
    func run(_ sql: StaticString, _ values: Value...) throws(StoreError) { try run(sql, values) }

    func run(_ sql: StaticString, _ values: [Value]) throws(StoreError) {
        let statement = try bind(values, to: try pointer(for: sql))
        defer { sqlite3_reset(statement) }
        while try step(statement) {}
    }

    /// Runs a statement whose text is built once and then cached under `name`.
    func run(
        _ name: StaticString, composed sql: @autoclosure () -> String, _ values: [Value]
    ) throws(StoreError) {
        let statement = try bind(values, to: try pointer(named: name, sql))
        defer { sqlite3_reset(statement) }
        while try step(statement) {}
    }

    /// Calls `body` for each row. No other statement is executed meanwhile.
    func forEach(
        _ sql: StaticString, _ values: [Value], _ body: (ResultRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let statement = try bind(values, to: try pointer(for: sql))
        defer { sqlite3_reset(statement) }
        while try step(statement) { try body(ResultRow(pointer: statement)) }
    }

    /// The first row, or nil.
    func first<T>(
        _ sql: StaticString, _ values: Value..., read: (ResultRow) throws(StoreError) -> T
    ) throws(StoreError) -> T? {
        let statement = try bind(values, to: try pointer(for: sql))
        defer { sqlite3_reset(statement) }
        return try step(statement) ? try read(ResultRow(pointer: statement)) : nil
    }

    /// All rows. They are read completely before this returns, so statements never overlap.
    func all<T>(
        _ sql: StaticString, _ values: Value..., read: (ResultRow) throws(StoreError) -> T
    ) throws(StoreError) -> [T] {
        try rows(of: try bind(values, to: try pointer(for: sql)), read)
    }

    /// All rows of a statement whose text is built for this call; the statement is not cached.
    func all<T>(
        composed sql: String, _ values: [Value], read: (ResultRow) throws(StoreError) -> T
    ) throws(StoreError) -> [T] {
        let statement = try make { try database.makeStatement(sql: sql) }
        // The raw pointer is valid only as long as `statement` exists.
        defer { withExtendedLifetime(statement) {} }
        return try rows(of: try bind(values, to: statement.sqliteStatement), read)
    }

    /// All rows of a statement without parameters.
    func all<T>(_ statement: Statement, read: (ResultRow) throws(StoreError) -> T) throws(StoreError) -> [T] {
        defer { withExtendedLifetime(statement) {} }
        return try rows(of: statement.sqliteStatement, read)
    }

    /// The number of rows that the last statement inserted, updated or deleted.
    var changeCount: Int { Int(clamping: sqlite3_changes(handle)) }
    var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Releases the statements and the change listener, so that the connection can be closed.
    func end() {
        prepared.removeAll()
        sqlite3_update_hook(handle, nil, nil)
        listener?.release()
        listener = nil
    }

    /// Reports every row that a statement inserts, changes or deletes to `listener`, except in tables without rowid and
    /// where a table is emptied as a whole. The listener must not use the connection.
    func reportChanges(to listener: any RowChangeListener) {
        let retained = Unmanaged.passRetained(RowChangeTarget(listener))
        self.listener = retained
        sqlite3_update_hook(
            handle,
            { target, _, _, table, row in
                guard let target, let table else { return }
                Unmanaged<RowChangeTarget>.fromOpaque(target).takeUnretainedValue().listener
                    .onChange(ofTable: table, row: row)
            }, retained.toOpaque())
    }

    /// Clears the `abortion` of an earlier transaction.
    func startAfresh() { abortion = nil }

    private func pointer(for sql: StaticString) throws(StoreError) -> OpaquePointer {
        try pointer(named: sql) { String(describing: sql) }
    }

    private func pointer(named name: StaticString, _ sql: () -> String) throws(StoreError) -> OpaquePointer {
        if let abortion { throw abortion }
        if let known = prepared[name.utf8Start] { return known.sqliteStatement }
        let made = try make { try database.cachedStatement(sql: sql()) }
        prepared[name.utf8Start] = made
        return made.sqliteStatement
    }

    private func make(_ statement: () throws -> Statement) throws(StoreError) -> Statement {
        if let abortion { throw abortion }
        do {
            return try statement()
        } catch {
            throw StoreError(from: error)
        }
    }

    private func rows<T>(
        of statement: OpaquePointer, _ read: (ResultRow) throws(StoreError) -> T
    ) throws(StoreError) -> [T] {
        defer { sqlite3_reset(statement) }
        var found: [T] = []
        while try step(statement) { found.append(try read(ResultRow(pointer: statement))) }
        return found
    }

    private func bind(_ values: [Value], to statement: OpaquePointer) throws(StoreError) -> OpaquePointer {
        for (index, value) in values.enumerated() {
            guard value.bind(to: statement, at: Int32(clamping: index + 1)) == SQLITE_OK else { throw failure() }
        }
        return statement
    }

    private func step(_ statement: OpaquePointer) throws(StoreError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure()
        }
    }

    private func failure() -> StoreError {
        let error = StoreError(
            code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
        if sqlite3_get_autocommit(handle) != 0 { abortion = error }
        return error
    }
}

/// Receives the rows that any statement inserts, changes or deletes.
protocol RowChangeListener: AnyObject {
    func onChange(ofTable table: UnsafePointer<CChar>, row: Int64)
}

/// A reference to the listener. SQLite keeps a pointer to this object.
private final class RowChangeTarget {
    let listener: any RowChangeListener

    init(_ listener: any RowChangeListener) { self.listener = listener }
}

extension StoreError {
    /// Converts an error of GRDB or SQLite.
    init(from error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError:
            self.init(code: error.extendedResultCode.rawValue, message: error.message ?? "no message")
        default: self.init(code: SQLITE_ERROR, message: "\(error)")
        }
    }

    /// Makes `.damaged` from the codes for a damaged file, and `.sqlite` from all others.
    init(code: Int32, message: String) {
        self =
            [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF)
            ? .damaged([message]) : .sqlite(code: code, message: message)
    }

    /// The codes that this program's statements return for a damaged schema or damaged rows: a table, a column or an
    /// index is missing (SQLITE_ERROR), or a value violates the schema.
    static let codesOfDamage = [SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_MISMATCH]

    /// True if the storage failed: it is full, broken or read-only, or the files were removed. A later attempt may
    /// succeed.
    var isStorageFailure: Bool {
        if case .vanished = self { return true }
        guard case .sqlite(let code, _) = self else { return false }
        return [SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM].contains(code & 0xFF)
    }

    /// True if another process has the database's lock.
    var isBusy: Bool {
        guard case .sqlite(let code, _) = self else { return false }
        return code & 0xFF == SQLITE_BUSY
    }

    var isForeignKeyViolation: Bool {
        guard case .sqlite(let code, _) = self else { return false }
        return code == SQLITE_CONSTRAINT | (3 << 8)  // SQLITE_CONSTRAINT_FOREIGNKEY, a macro Swift does not import.
    }
}
