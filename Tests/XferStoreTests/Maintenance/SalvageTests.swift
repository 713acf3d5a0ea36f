import Foundation
import GRDB
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// What a start refuses, what the check finds and what is salvaged of damaged databases.
struct SalvageTests {
    /// A closed database with tasks, transfers and events.
    private static func filled(_ tasks: Int = 300) async throws -> StoreDirectory {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { tx throws in
            let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 2))
            for number in 1...tasks {
                var task = try tx.tasks.insert(
                    specification("host\(number % 9)", path: "/\(number)", group: "g"), state: .queued, at: noon)
                try tx.events.append(.taskResumed, taskID: task.id, at: noon)
                guard number.isMultiple(of: 10) else { continue }
                task.transferID = try tx.transfers.insert(partial: partial, at: noon).id
                task.state = .paused
                try tx.tasks.update(task)
            }
        }
        try store.close()
        return directory
    }

    /// What a killed daemon leaves: the database as it was at first, everything else in the log, in many commits.
    private static func killed(commits: Int) async throws -> StoreDirectory {
        let directory = try StoreDirectory()
        let store = try directory.open()
        for _ in 0..<commits { try await store.write { try $0.add(1) } }
        let left = try StoreDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: left.database + suffix)
        }
        try store.close()
        return left
    }

    /// Overwrites one occurrence of a text in a file.
    private static func replace(_ old: String, by new: String, in path: String, occurrence: Int = 0) throws {
        var data = try #require(FileManager.default.contents(atPath: path))
        var place: Range<Data.Index>?
        for _ in 0...occurrence {
            place = data.range(of: Data(old.utf8), in: (place?.upperBound ?? data.startIndex)..<data.endIndex)
        }
        data.replaceSubrange(try #require(place), with: Data(new.utf8))
        try data.write(to: URL(fileURLWithPath: path))
    }

    private static func startFault(_ directory: StoreDirectory) -> StoreError? {
        do {
            try directory.open().close()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    private static func files(_ directory: StoreDirectory) throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).reduce(into: [:]) {
            $0[$1] = FileManager.default.contents(atPath: directory.path + "/" + $1)
        }
    }

    // MARK: A log without its database

    @Test(arguments: [false, true]) func aMissingOrEmptyDatabaseBesideALogIsRefusedAndNothingIsWritten(
        isEmpty: Bool
    ) async throws {
        let directory = try await Self.killed(commits: 50)
        try FileManager.default.removeItem(atPath: directory.database)
        if isEmpty { #expect(FileManager.default.createFile(atPath: directory.database, contents: Data())) }
        let before = try Self.files(directory)
        let fault = try #require(Self.startFault(directory))
        #expect(fault.isDamage && "\(fault)".contains("--recover"))
        #expect(throws: fault) { try TaskStore.check(at: directory.database, thoroughly: true) }
        #expect(try Self.files(directory) == before)
        // The log was never moved into the database: it holds every page.
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["task"] == 50)
        #expect(report.losses.isEmpty == isEmpty)
        let store = try directory.open()
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 50])
        try store.close()
    }

    @Test func aDatabaseWithoutItsEndIsRefused() async throws {
        let directory = try await Self.filled(3000)
        let data = try #require(directory.bytes())
        try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: directory.database))
        let fault = try #require(Self.startFault(directory))
        #expect(fault.isDamage)
        #expect(throws: StoreError.self) { try TaskStore.check(at: directory.database, thoroughly: true) }
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged.values.contains { $0 > 0 }, "\(report)")
        #expect(Self.startFault(directory) == nil)
    }

    @Test func aThoroughCheckNamesTheTableOfADamagedPage() async throws {
        let directory = try await Self.filled()
        let found = try await DatabaseQueue(path: directory.database).read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'event'")
        }
        let root = try #require(found)
        var data = try #require(directory.bytes())
        let begin = data.startIndex + (root - 1) * 4096
        data.replaceSubrange(begin..<(begin + 4096), with: Data(repeating: 0, count: 4096))
        try data.write(to: URL(fileURLWithPath: directory.database))
        let fault = #expect(throws: StoreError.self) { try TaskStore.check(at: directory.database, thoroughly: true) }
        #expect(fault.map { "\($0)" }?.contains("event: ") == true, "\(String(describing: fault))")
    }

    /// A database that was dumped and read in again has its schema in other rows.
    @Test func aSchemaInOtherRowsIsNoDamageAndIsMended() async throws {
        let directory = try await Self.filled()
        try DatabaseQueue(path: directory.database).inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET rowid = rowid + 1000;
                    """)
        }
        #expect(Self.startFault(directory) == nil)
        try TaskStore.check(at: directory.database, thoroughly: true)
        try Self.replace("CREATE TABLE task (", by: "CREATE TABLX task (", in: directory.database)
        #expect(try #require(Self.startFault(directory)).isDamage)
        #expect(try TaskStore.recover(at: directory.database, now: noon).salvaged["task"] == 300)
    }

    @Test func aDamagedFrameBeforeSyncedCommitsIsRefusedAndATornLastCommitIsNot() async throws {
        let directory = try await Self.killed(commits: 40)
        let log = try #require(directory.bytes("-wal"))
        func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: directory.database + "-wal")) }
        var damaged = log
        damaged[damaged.startIndex + 32 + 20 * 4120 + 100] ^= 1
        try write(damaged)
        let fault = try #require(Self.startFault(directory))
        #expect(fault.isDamage && "\(fault)".contains("frame 21"))
        #expect(throws: fault) { try TaskStore.check(at: directory.database, thoroughly: true) }
        var headless = log
        headless[headless.startIndex + 17] ^= 1
        try write(headless)
        #expect(Self.startFault(directory)?.isDamage == true)
        // The last frame's page was not written when the power went: that commit was never answered.
        var torn = log
        torn.replaceSubrange((torn.endIndex - 4096)..<torn.endIndex, with: Data(repeating: 0, count: 4096))
        try write(torn)
        let store = try directory.open()
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 39])
        try store.close()
    }

    // MARK: The schema

    @Test(
        arguments: [
            ("CREATE TABLE task (", "CREATE TABXE task ("), ("CREATE TABLE task (", "CREATE TABLE tbsk ("),
            ("CREATE INDEX task_state", "CREATE INDEX task_stbte"),
            ("CREATE INDEX task_state", "CREATE!INDEX task_state"),
            ("state TEXT NOT NULL", "stbte TEXT NOT NULL"), ("CREATE TABLE event (", "CREATE TABLE event )"),
            ("CREATE TABLE transfer (", "CREATE TABLE transfes ("), ("CREATE TABLE store", "CREATE TABLE stohe"),
            ("STRICT, WITHOUT ROWID", "STRICT, WITHOUT ROXID"), ("SQLite format 3", "SQLite formbt 3"),
        ]
    ) func oneDamagedWordOfTheSchemaIsFoundAndCostsNoRow(word: String, damaged: String) async throws {
        let directory = try await Self.filled()
        try Self.replace(word, by: damaged, in: directory.database)
        #expect(throws: StoreError.self) { try TaskStore.check(at: directory.database, thoroughly: true) }
        if let fault = Self.startFault(directory) { #expect(fault.isDamage, "\(fault)") }
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["task"] == 300, "\(report)")
        #expect(report.salvaged["event"] == 300)
        #expect(report.losses.isEmpty, "\(report.losses)")
        try TaskStore.check(at: directory.database, thoroughly: true)
        let store = try directory.open()
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 270, .paused: 30])
        try store.close()
    }

    @Test func aDamagedSchemaNumberIsRefusedAndMended() async throws {
        for number in [0, 3, 1 << 24] {
            let directory = try await Self.filled(20)
            try directory.execute("PRAGMA user_version = \(number)")
            let fault = try #require(Self.startFault(directory))
            #expect(fault.isDamage, "\(fault)")
            #expect(throws: StoreError.self) { try TaskStore.check(at: directory.database, thoroughly: true) }
            #expect(try TaskStore.recover(at: directory.database, now: noon).salvaged["task"] == 20)
            #expect(Self.startFault(directory) == nil)
        }
    }

    // MARK: Rows

    @Test(
        arguments: [
            ("task", "UPDATE task SET options = '{\"method\":7}' WHERE id = 7", 299),
            ("task", "UPDATE task SET url = 'gopher://x/' WHERE id = 7", 299),
            ("task", "UPDATE task SET state = 'asleep' WHERE id = 7", 299),
            ("task", "UPDATE task SET error = 'x', response_headers = '[[]' WHERE id = 7", 300),
            ("transfer", "UPDATE transfer SET selecting_headers = '[' WHERE id = 3", 29),
            ("event", "UPDATE event SET payload = '{\"taskResumed' WHERE seq = 9", 299),
            ("event", "UPDATE event SET count = 2 WHERE seq = 9", 299),
        ]
    ) func anUnreadableRowIsFoundListedAndLeftOut(table: String, damage: String, left: Int) async throws {
        let directory = try await Self.filled()
        try directory.execute(damage)
        let found = #expect(throws: StoreError.self) {
            try TaskStore.check(at: directory.database, thoroughly: true)
        }
        #expect("\(try #require(found))".contains("\(table) "))
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.losses.contains { $0.hasPrefix("\(table) ") && $0.contains("unreadable") }, "\(report.losses)")
        try TaskStore.check(at: directory.database, thoroughly: true)
        let store = try directory.open()
        let count = try await store.read { try $0.rowCount(of: table) }
        #expect(count == left)
        try store.close()
    }

    @Test func anUnreadableRowIsOmittedFromAListAndNamed() async throws {
        let directory = try await Self.filled(20)
        try directory.execute("UPDATE task SET options = '[' WHERE id IN (7, 11)")
        let store = try directory.open()
        let first = try await store.read { try $0.tasks.list(TaskQuery(), ascending: true, limit: 7) }
        #expect(first.tasks.map(\.id.rawValue) == [1, 2, 3, 4, 5, 6])
        #expect(first.unreadable == [TaskID(7)])
        let second = try await store.read {
            try $0.tasks.list(TaskQuery(), ascending: true, limit: 100, cursor: first.nextCursor)
        }
        #expect(second.tasks.count == 12 && second.unreadable == [TaskID(11)] && second.nextCursor == nil)
        try store.close()
    }

    @Test func theRowsNextToADamagedPageAreSalvaged() async throws {
        let directory = try await Self.filled(2000)
        let queue = try DatabaseQueue(path: directory.database)
        let page = try await queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY path")
        }[5]
        let rows = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT ncell FROM dbstat WHERE pageno = ?", arguments: [page]) ?? 0
        }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.database))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["event"] == 2000 - rows)
        #expect(report.losses.count == 1)
    }

    private static let keyedRows = """
        INSERT INTO failed_url (key, url_digest, url, method, owner, task_id, error, failed_at)
        VALUES (x'01', x'02', 'http://a.test/', 'GET', 1000, 1,
            '{"isRetriable":false,"message":"m","reason":"http_status"}', 1);
        """

    @Test func failedURLsAreSalvagedWithTheKeyOfTheirDigests() async throws {
        let directory = try await Self.filled()
        try directory.execute(Self.keyedRows)
        let key = try directory.value("SELECT hex(digest_key) FROM store")
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["failed_url"] == 1 && report.losses.isEmpty, "\(report)")
        #expect(try directory.value("SELECT hex(digest_key) FROM store") == key)
    }

    @Test func withoutTheKeyFailedURLsAreLeftOutAndThatIsSaid() async throws {
        let directory = try await Self.filled()
        try directory.execute(Self.keyedRows + "UPDATE store SET digest_key = x'07';")
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["failed_url"] == nil && report.losses.count == 1, "\(report)")
        #expect(report.losses.first?.contains("key of digests") == true)
        try TaskStore.check(at: directory.database, thoroughly: true)
    }
}

extension StoreReader {
    fileprivate func rowCount(of table: String) throws -> Int {
        try Int.fetchOne(connection.database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
}
