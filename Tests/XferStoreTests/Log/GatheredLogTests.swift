import CSQLite
import GRDB
import GRDBSQLite
import Testing
import XferTestSupport

@testable import XferStore

/// The log's file as SQLite sees it, its methods called as SQLite would.
struct GatheredLogTests {
    /// Where the log has nothing yet.
    private let beyond: Int64 = 1 << 20

    @Test func bytesThatCouldNotBeWrittenAreWrittenByTheNextSync() throws {
        try withLog { log, plan in
            #expect(log.write("first", at: beyond) == SQLITE_OK)
            plan { $0.writeFailure = SQLITE_FULL }
            // As a page that is read back in the middle of a transaction: it has to be in the file by then.
            #expect(log.read(5, at: beyond).code == SQLITE_FULL)
            #expect(log.sync() == SQLITE_FULL)
            plan { $0.writeFailure = nil }
            #expect(log.sync() == SQLITE_OK)
            #expect(log.read(5, at: beyond).text == "first")
        }
    }

    @Test func bytesWrittenAgainAfterAFailureReplaceTheFirst() throws {
        try withLog { log, plan in
            #expect(log.write("first", at: beyond) == SQLITE_OK)
            plan { $0.writeFailure = SQLITE_FULL }
            #expect(log.sync() == SQLITE_FULL)
            #expect(log.write("other", at: beyond) == SQLITE_FULL)
            plan { $0.writeFailure = nil }
            #expect(log.write("again", at: beyond) == SQLITE_OK)
            #expect(log.sync() == SQLITE_OK)
            #expect(log.read(5, at: beyond).text == "again")
        }
    }

    @Test func bytesThatWereUndoneAreForgotten() throws {
        try withLog { log, plan in
            #expect(log.write("first", at: beyond) == SQLITE_OK)
            #expect(log.sync() == SQLITE_OK)
            #expect(log.write("other", at: beyond) == SQLITE_OK)
            plan { $0.writeFailure = SQLITE_FULL }
            #expect(log.sync() == SQLITE_FULL)
            GatheredLog.discard(on: log.database)
            #expect(log.sync() == SQLITE_OK)
            plan { $0.writeFailure = nil }
            #expect(log.read(5, at: beyond).text == "first")
        }
    }

    @Test func undoingWithoutGatheredBytesIsHarmless() throws {
        let queue = try DatabaseQueue()
        let one = try queue.inDatabase { database in
            GatheredLog.discard(on: database)
            return try Int.fetchOne(database, sql: "SELECT 1")
        }
        #expect(one == 1)
    }

    @Test func piecesThatAreNotContiguousAreEachWrittenToTheirOffset() throws {
        try withLog { log, _ in
            for (text, place) in [("bb", beyond + 2), ("cc", beyond + 4), ("aa", beyond), ("CC", beyond + 4)] {
                #expect(log.write(text, at: place) == SQLITE_OK)
            }
            #expect(log.read(6, at: beyond).text == "aabbCC")
        }
    }

    private func withLog(
        _ body: (LogFile, (@Sendable (inout DiskFaults.Plan) -> Void) -> Void) throws -> Void
    ) throws {
        let directory = try StoreDirectory()
        DiskFaults.watch(directory.database)
        let pool = try DatabasePool(path: directory.database)
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
            try GatheredLog.begin(on: database)
            var file: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
            try body(LogFile(file: try #require(file), database: database)) {
                DiskFaults.change(directory.database, $0)
            }
        }
        try pool.close()
    }
}

private struct LogFile {
    let file: UnsafeMutablePointer<sqlite3_file>
    let database: Database

    func write(_ text: String, at offset: Int64) -> Int32 {
        Array(text.utf8).withUnsafeBytes {
            file.pointee.pMethods.pointee.xWrite?(file, $0.baseAddress, Int32($0.count), offset) ?? SQLITE_ERROR
        }
    }

    func sync() -> Int32 { file.pointee.pMethods.pointee.xSync?(file, SQLITE_SYNC_NORMAL) ?? SQLITE_ERROR }

    func read(_ count: Int, at offset: Int64) -> (code: Int32, text: String) {
        var bytes = [UInt8](repeating: 0, count: count)
        let code = bytes.withUnsafeMutableBytes {
            file.pointee.pMethods.pointee.xRead?(file, $0.baseAddress, Int32(count), offset) ?? SQLITE_ERROR
        }
        return (code, String(decoding: bytes, as: UTF8.self))
    }
}
