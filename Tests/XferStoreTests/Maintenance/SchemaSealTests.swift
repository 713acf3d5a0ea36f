import Foundation
import GRDB
import Glibc
import Testing
import XferModel

@testable import XferStore

/// Damage of `sqlite_schema` that SQLite itself does not notice.
struct SchemaSealTests {
    private static let tasks = 120

    /// A closed database with paused tasks, whose other tables are empty but for events.
    private static func filled() async throws -> StoreDirectory {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { tx throws in
            for number in 1...tasks {
                let task = try tx.tasks.insert(
                    specification("h\(number % 9)", path: "/\(number)"), state: .paused, at: noon)
                try tx.events.append(.taskPaused(received: 0), taskID: task.id, at: noon)
            }
        }
        try store.close()
        return directory
    }

    private static func editSchema(_ sql: String, _ directory: StoreDirectory) throws {
        try directory.execute("PRAGMA writable_schema = ON; \(sql)")
    }

    /// How a start goes: the damage that it finds, or the number of tasks that it lists.
    private enum Start: Equatable {
        case refused
        case listed(Int)
    }

    private static func start(_ directory: StoreDirectory) async throws -> Start {
        let configuration = StoreConfiguration(path: directory.database)
        let store: TaskStore
        do {
            try TaskStore.rehearse(configuration) { _ in }
            store = try TaskStore.open(configuration)
        } catch let error as StoreError where error.isDamage {
            return .refused
        }
        defer { try? store.close() }
        let page = try await store.read { try $0.tasks.list(TaskQuery(), limit: 1000) }
        return .listed(page.tasks.count + page.unreadable.count)
    }

    @Test(arguments: ["upload", "event", "segment", "sqlite_sequence", "migration", "store"])
    func aTableWithTheRootPageOfAnotherIsRefusedUntouchedAndItsRowsAreSalvaged(other: String) async throws {
        let directory = try await Self.filled()
        try Self.editSchema(
            """
            UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = '\(other)')
            WHERE name = 'task'
            """, directory)
        let before = directory.bytes()
        #expect(throws: StoreError.self) {
            try TaskStore.rehearse(StoreConfiguration(path: directory.database)) { _ in }
        }
        #expect(directory.bytes() == before)
        #expect(try await Self.start(directory) == .refused)
        #expect(throws: StoreError.self) { try TaskStore.check(at: directory.database, thoroughly: true) }
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["task"] == Self.tasks, "\(report)")
        #expect(report.losses.isEmpty, "\(report.losses)")
        #expect(try await Self.start(directory) == .listed(Self.tasks))
    }

    @Test func aTableThatIsMissingInTheSchemaIsSalvagedByItsRecordedRootPage() async throws {
        let directory = try await Self.filled()
        try Self.editSchema("DELETE FROM sqlite_schema WHERE tbl_name = 'task'", directory)
        #expect(try await Self.start(directory) == .refused)
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["task"] == Self.tasks, "\(report)")
        #expect(report.losses.isEmpty, "\(report.losses)")
    }

    @Test func vacuumAndAToolsIndexAreNoDamageAndAreSealed() async throws {
        let directory = try await Self.filled()
        try directory.execute("DELETE FROM event; VACUUM; CREATE INDEX mine ON task (url); ANALYZE")
        let seal = try directory.value("SELECT name FROM migration WHERE number = 0")
        #expect(try await Self.start(directory) == .listed(Self.tasks))
        #expect(try directory.value("SELECT name FROM migration WHERE number = 0") != seal)
        // Without a start in between.
        try directory.execute("DROP INDEX mine; VACUUM")
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["task"] == Self.tasks && report.losses.isEmpty, "\(report)")
    }

    @Test func aTableThatIsEmptyAgainstItsCountsIsRefused() async throws {
        let directory = try await Self.filled()
        let root = try #require(try directory.value("SELECT rootpage FROM sqlite_schema WHERE name = 'task'"))
        var bytes = try #require(directory.bytes())
        // The page becomes a leaf without cells (https://sqlite.org/fileformat2.html#b_tree_pages).
        let page = bytes.startIndex + (try #require(Int(root)) - 1) * 4096
        bytes.replaceSubrange(page..<(page + 8), with: [13, 0, 0, 0, 0, 16, 0, 0])
        try bytes.write(to: URL(fileURLWithPath: directory.database))
        #expect(try await Self.start(directory) == .refused)
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["task"] == 0)
        #expect(report.losses.contains { $0.hasPrefix("task: 120 rows are counted") }, "\(report.losses)")
    }

    @Test func aDatabaseOfAnEarlierProgramIsSealedOnceItsSchemaIsSound() async throws {
        let (good, bad) = (try StoreDirectory(), try StoreDirectory())
        for directory in [good, bad] { try directory.execute(SchemaFixture.sql(21)) }
        try Self.editSchema(
            """
            UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'transfer')
            WHERE name = 'task'
            """, bad)
        #expect(try await Self.start(bad) == .refused)
        guard case .listed(let count) = try await Self.start(good) else {
            Issue.record("a sound database is refused")
            return
        }
        #expect(count > 0)
        #expect(try good.value("SELECT name FROM migration WHERE number = 0") != nil)
    }

    /// Every byte of the schema's pages with XFER_SOAK, else each 409th.
    @Test func aDamagedByteOfTheSchemaNeverHidesATask() async throws {
        let directory = try await Self.filled()
        let bytes = try #require(directory.bytes())
        let queue = try DatabaseQueue(path: directory.database)
        let pages = try await queue.read {
            try Int.fetchAll($0, sql: "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
        }
        try queue.close()
        let step = getenv("XFER_SOAK") != nil ? 1 : 409
        var tally: [Bool: Int] = [:]
        for offset in stride(from: 0, to: pages.count * 4096, by: step) {
            let place = (pages[offset / 4096] - 1) * 4096 + offset % 4096
            var damaged = bytes
            // Each time another bit or other bits: 37 has no divisor in common with 255.
            damaged[damaged.startIndex + place] ^= UInt8(1 + offset * 37 % 255)
            for suffix in ["-wal", "-shm"] { unlink(directory.database + suffix) }
            try damaged.write(to: URL(fileURLWithPath: directory.database))
            let start: Start
            do {
                start = try await Self.start(directory)
            } catch {
                // A statement fails: that is not silent.
                start = .refused
            }
            #expect(start == .refused || start == .listed(Self.tasks), "byte \(place) of the file")
            tally[start == .refused, default: 0] += 1
        }
        #expect(tally[true, default: 0] > 0 && tally[false, default: 0] > 0, "\(tally)")
    }
}
