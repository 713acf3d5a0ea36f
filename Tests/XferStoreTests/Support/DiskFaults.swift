import CSQLite
import GRDBSQLite
import XferSystem

@testable import XferStore

/// Counts what SQLite writes and syncs, and makes it fail, by database: wraps the methods of SQLite's own VFS
/// (https://sqlite.org/vfs.html) in this process. Databases without a plan are not affected.
enum DiskFaults {
    struct Plan: Sendable {
        var syncs = 0
        /// How often the log was written to.
        var logWrites = 0
        /// SQLite's result code for the next syncs of the log, one each; then they succeed.
        var syncFailures: [Int32] = []
        /// Called before each sync of the database itself, not of its log.
        var beforeDatabaseSync: (@Sendable () -> Void)?
        /// SQLite's result code for syncs of the database itself while it is set.
        var databaseSyncFailure: Int32?
        /// SQLite's result code for writes to the database itself while it is set.
        var databaseWriteFailure: Int32?
        /// SQLite's result code for every write while it is set.
        var writeFailure: Int32?
        /// How many more times another connection appears to hold the lock for writing.
        var busyLocks = 0
    }

    fileprivate struct Wrapped: @unchecked Sendable {
        // Constant memory of SQLite.
        let original: UnsafePointer<sqlite3_io_methods>
        let database: String
        let isLog: Bool
        /// Whether the file is the database itself, not its log or another file beside it.
        let isDatabase: Bool
    }

    fileprivate static let plans = Locked<[String: Plan]>([:])
    fileprivate static let files = Locked<[UnsafeMutableRawPointer: Wrapped]>([:])

    /// Must come before the database is opened.
    static func watch(_ database: String) {
        _ = installed
        plans.withLock { $0[database] = Plan() }
    }

    static func plan(_ database: String) -> Plan { plans.withLock { $0[database] ?? Plan() } }
    static func change(_ database: String, _ change: (inout Plan) -> Void) {
        plans.withLock { change(&$0[database, default: Plan()]) }
    }

    // Set once, before the first connection that it matters for.
    fileprivate nonisolated(unsafe) static var originalOpen:
        (
            @convention(c) (
                UnsafeMutablePointer<sqlite3_vfs>?, sqlite3_filename?, UnsafeMutablePointer<sqlite3_file>?, Int32,
                UnsafeMutablePointer<Int32>?
            ) -> Int32
        )?
    private static let installed: Bool = {
        sqlite3_initialize()
        guard let vfs = sqlite3_vfs_find(nil) else { return false }
        originalOpen = vfs.pointee.xOpen
        vfs.pointee.xOpen = openWrapped
        return true
    }()
}

private func openWrapped(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: sqlite3_filename?, _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
) -> Int32 {
    guard let open = DiskFaults.originalOpen else { return SQLITE_ERROR }
    let result = open(vfs, name, file, flags, outFlags)
    guard result == SQLITE_OK, let file, let name, let original = file.pointee.pMethods else { return result }
    var database = String(cString: name)
    let isLog = database.hasSuffix("-wal")
    for suffix in ["-wal", "-journal"] where database.hasSuffix(suffix) { database.removeLast(suffix.count) }
    guard DiskFaults.plans.withLock({ $0[database] != nil }) else { return result }
    let isDatabase = database == String(cString: name)
    DiskFaults.files.withLock {
        $0[file] = DiskFaults.Wrapped(
            original: original, database: database, isLog: isLog, isDatabase: isDatabase)
    }
    // Never freed: a few hundred bytes per test.
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: original.pointee)
    methods.pointee.xSync = syncWrapped
    methods.pointee.xWrite = writeWrapped
    methods.pointee.xShmLock = lockWrapped
    methods.pointee.xClose = closeWrapped
    file.pointee.pMethods = UnsafePointer(methods)
    return result
}

private func wrapped(_ file: UnsafeMutablePointer<sqlite3_file>?) -> DiskFaults.Wrapped? {
    file.flatMap { file in DiskFaults.files.withLock { $0[UnsafeMutableRawPointer(file)] } }
}

private func syncWrapped(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
    guard let wrapped = wrapped(file), let sync = wrapped.original.pointee.xSync else { return SQLITE_ERROR }
    if wrapped.isDatabase { DiskFaults.plan(wrapped.database).beforeDatabaseSync?() }
    let failure = DiskFaults.plans.withLock { plans -> Int32? in
        guard var plan = plans[wrapped.database] else { return nil }
        defer { plans[wrapped.database] = plan }
        plan.syncs += 1
        if wrapped.isDatabase, let failure = plan.databaseSyncFailure { return failure }
        return plan.syncFailures.isEmpty ? nil : plan.syncFailures.removeFirst()
    }
    return failure ?? sync(file, flags)
}

private func writeWrapped(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
) -> Int32 {
    guard let wrapped = wrapped(file), let write = wrapped.original.pointee.xWrite else { return SQLITE_ERROR }
    let plan = DiskFaults.plan(wrapped.database)
    if let failure = plan.writeFailure { return failure }
    if wrapped.isDatabase, let failure = plan.databaseWriteFailure { return failure }
    if wrapped.isLog { DiskFaults.change(wrapped.database) { $0.logWrites += 1 } }
    return write(file, bytes, count, offset)
}

private func lockWrapped(_ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: Int32, _ count: Int32, _ flags: Int32)
    -> Int32
{
    guard let wrapped = wrapped(file), let lock = wrapped.original.pointee.xShmLock else { return SQLITE_ERROR }
    // The first lock is the writer's (https://sqlite.org/walformat.html#locks).
    let isBusy = DiskFaults.plans.withLock { plans in
        guard offset == 0, flags & SQLITE_SHM_LOCK != 0, var plan = plans[wrapped.database], plan.busyLocks > 0 else {
            return false
        }
        plan.busyLocks -= 1
        plans[wrapped.database] = plan
        return true
    }
    return isBusy ? SQLITE_BUSY : lock(file, offset, count, flags)
}

private func closeWrapped(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file, let wrapped = wrapped(file), let close = wrapped.original.pointee.xClose else {
        return SQLITE_ERROR
    }
    _ = DiskFaults.files.withLock { $0.removeValue(forKey: UnsafeMutableRawPointer(file)) }
    return close(file)
}
