import GRDB
import GRDBSQLite

/// Passes the bytes that a commit appends to the write-ahead log to the system in one piece.
///
/// SQLite writes each page's frame in two calls, its head and the page (https://sqlite.org/fileformat2.html#walformat):
/// two dozen for one added task. Here they are gathered until a call needs the content of the file, most often the sync
/// that makes the commit durable. Bytes that are not written yet do not count as committed: neither for this connection
/// nor for others, since SQLite publishes the frames to them after the sync.
///
/// Wraps the methods of the log's file (https://sqlite.org/c3ref/io_methods.html). They are called on the queue of
/// their connection only, so no other thread uses this object.
final class GatheredLog {
    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The size of the buffer, thirty frames: larger commits are written in pieces. SQLite writes less than 128 KiB in
    /// one call (`seekAndWriteFd`).
    private static let capacity = 31 * (24 + 4096)

    private let original: UnsafePointer<sqlite3_io_methods>
    /// The methods that replace `original` in the file; a reference to this object follows them.
    private let methods: UnsafeMutableRawPointer
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var count = 0
    /// Offset of the gathered bytes in the file.
    private var start: Int64 = 0

    /// Begins to gather, until the connection is closed. The database is in WAL mode and was read.
    ///
    /// - Throws: `StoreError` when SQLite does not reveal its log file.
    static func begin(on database: Database) throws(StoreError) {
        var log: File?
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard code == SQLITE_OK, let log, let original = log.pointee.pMethods else {
            throw .sqlite(code: code, message: "SQLite does not name its log")
        }
        let gathered = GatheredLog(original)
        log.pointee.pMethods = UnsafePointer(gathered.methods.assumingMemoryBound(to: sqlite3_io_methods.self))
    }

    /// Drops bytes that were gathered and are not written, after a rollback. No caller got a confirmation of them.
    /// Written later, they could become committed, or overwrite bytes that other connections have written there since.
    static func discard(on database: Database) {
        var log: File?
        sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard let log, let methods = log.pointee.pMethods, isWrapped(methods) else { return }
        of(log).count = 0
    }

    private static func isWrapped(_ methods: UnsafePointer<sqlite3_io_methods>) -> Bool {
        methods.pointee.xClose.map { unsafeBitCast($0, to: Int.self) } == unsafeBitCast(closeMethod, to: Int.self)
    }

    private static let closeMethod: @convention(c) (File?) -> Int32 = { of($0).close($0) }

    private init(_ original: UnsafePointer<sqlite3_io_methods>) {
        self.original = original
        let size = MemoryLayout<sqlite3_io_methods>.stride
        methods = .allocate(byteCount: size + MemoryLayout<Unmanaged<GatheredLog>>.size, alignment: 16)
        let own = methods.initializeMemory(as: sqlite3_io_methods.self, to: original.pointee)
        own.pointee.xWrite = { GatheredLog.of($0).write($0, $1, $2, $3) }
        own.pointee.xSync = { file, flags in GatheredLog.of(file).settled(file) { $0.pointee.xSync?(file, flags) } }
        own.pointee.xRead = { file, to, count, offset in
            GatheredLog.of(file).settled(file) { $0.pointee.xRead?(file, to, count, offset) }
        }
        own.pointee.xTruncate = { file, size in GatheredLog.of(file).settled(file) { $0.pointee.xTruncate?(file, size) }
        }
        own.pointee.xFileSize = { file, size in GatheredLog.of(file).settled(file) { $0.pointee.xFileSize?(file, size) }
        }
        own.pointee.xFileControl = { file, operation, argument in
            GatheredLog.of(file).settled(file) { $0.pointee.xFileControl?(file, operation, argument) }
        }
        own.pointee.xClose = Self.closeMethod
        (methods + size).initializeMemory(as: Unmanaged<GatheredLog>.self, to: Unmanaged.passRetained(self))
    }

    deinit {
        bytes.deallocate()
        methods.deallocate()
    }

    /// The object behind a file whose methods were wrapped.
    private static func of(_ file: File?) -> GatheredLog {
        guard let methods = file?.pointee.pMethods else { preconditionFailure("SQLite calls a method of no file") }
        let reference = UnsafeRawPointer(methods) + MemoryLayout<sqlite3_io_methods>.stride
        return reference.assumingMemoryBound(to: Unmanaged<GatheredLog>.self).pointee.takeUnretainedValue()
    }

    private func write(_ file: File?, _ source: UnsafeRawPointer?, _ length: Int32, _ offset: Int64) -> Int32 {
        let length = Int(clamping: length)
        if offset != start + Int64(clamping: count) || length > bytes.count - count {
            let code = flush(file)
            guard code == SQLITE_OK else { return code }
            start = offset
        }
        guard length <= bytes.count, let source else {
            return original.pointee.xWrite?(file, source, Int32(clamping: length), offset) ?? SQLITE_ERROR
        }
        bytes.baseAddress?.advanced(by: count).copyMemory(from: source, byteCount: length)
        count += length
        return SQLITE_OK
    }

    /// Writes the gathered bytes. Bytes that cannot be written are kept until the rollback: SQLite considers them
    /// written, so a sync must not succeed without them.
    private func flush(_ file: File?) -> Int32 {
        guard count > 0 else { return SQLITE_OK }
        let code = original.pointee.xWrite?(file, bytes.baseAddress, Int32(clamping: count), start) ?? SQLITE_ERROR
        if code == SQLITE_OK { count = 0 }
        return code
    }

    /// Calls a method of SQLite's own after writing everything.
    private func settled(_ file: File?, _ method: (UnsafePointer<sqlite3_io_methods>) -> Int32?) -> Int32 {
        let code = flush(file)
        return code == SQLITE_OK ? method(original) ?? SQLITE_ERROR : code
    }

    private func close(_ file: File?) -> Int32 {
        let code = flush(file)
        file?.pointee.pMethods = original
        let closed = original.pointee.xClose?(file) ?? SQLITE_ERROR
        // Last: this object ends with it.
        Unmanaged.passUnretained(self).release()
        return code == SQLITE_OK ? closed : code
    }
}
