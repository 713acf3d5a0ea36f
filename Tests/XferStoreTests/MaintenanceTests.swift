import Foundation
import GRDB
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Finding damage and salvaging what it left.
struct CareTests {
    private static func filled() async throws -> (StoreDirectory, storeID: String) {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { transaction throws in
            let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 2))
            for number in 1...2000 {
                var task = try transaction.tasks.insert(
                    specification("host\(number % 9)", path: "/\(number)", group: "g"), state: .queued, at: noon)
                try transaction.events.append(.taskResumed, taskID: task.id, at: noon)
                guard number.isMultiple(of: 10) else { continue }
                let transfer = try transaction.transfers.insert(partial: partial, at: noon).id
                try transaction.transfers.checkpoint(transfer, segments: [Segment(start: 0, committed: 9)])
                task.transferID = transfer
                task.state = .paused
                try transaction.tasks.update(task)
            }
            try transaction.settings.set("a", "b")
        }
        try store.close()
        return (directory, store.storeID)
    }

    /// Overwrites a page of a table with noise.
    private static func damage(_ table: String, _ directory: StoreDirectory, pages: Int = 1) throws {
        let queue = try DatabaseQueue(path: directory.database)
        let numbers = try queue.read {
            try Int.fetchAll(
                $0, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                arguments: [table])
        }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.database))
        for number in numbers[(numbers.count / 2)...].prefix(pages) {
            try file.seek(toOffset: UInt64(number - 1) * 4096)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        }
        try file.close()
    }

    @Test(arguments: [false, true]) func aCheckFindsNothingInAGoodDatabase(thoroughly: Bool) async throws {
        let (directory, _) = try await Self.filled()
        try TaskStore.check(at: directory.database, thoroughly: thoroughly)
        try TaskStore.check(at: directory.path + "/none.sqlite", thoroughly: thoroughly)
    }

    @Test(arguments: [false, true]) func aCheckFindsAPageOfNoise(thoroughly: Bool) async throws {
        let (directory, _) = try await Self.filled()
        try Self.damage("task", directory)
        let error = #expect(throws: StoreError.self) {
            try TaskStore.check(at: directory.database, thoroughly: thoroughly)
        }
        guard case .damaged(let findings) = error else {
            Issue.record("expected findings, got \(String(describing: error))")
            return
        }
        #expect(!findings.isEmpty)
    }

    @Test func aCheckFindsWrongCounts() async throws {
        let (directory, _) = try await Self.filled()
        try directory.execute("UPDATE host_queue SET queued = queued + 1 WHERE host = 'host1'")
        try directory.execute("DELETE FROM task_count WHERE state = 'paused' AND owner = -1 AND group_name = 'g'")
        try TaskStore.check(at: directory.database, thoroughly: false)
        #expect(
            throws: StoreError.damaged([
                "host_queue differs from the tasks in 2 rows", "task_count differs from the tasks in 1 rows",
            ])
        ) { try TaskStore.check(at: directory.database, thoroughly: true) }
    }

    @Test func aCheckFindsWrongSumsOfAUsersBytes() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(SchemaFixture.newest))
        try directory.open().close()
        try TaskStore.check(at: directory.database, thoroughly: true)
        for table in ["owner_bytes", "owner_deliveries"] {
            try directory.execute("UPDATE \(table) SET bytes = bytes + 1")
        }
        #expect(
            throws: StoreError.damaged([
                "owner_bytes differs from task_bytes in 2 rows",
                "owner_deliveries differs from webhook_delivery in 2 rows",
            ])
        ) { try TaskStore.check(at: directory.database, thoroughly: true) }
    }

    @Test func aCheckFindsTasksOfMissingTransfers() async throws {
        let (directory, _) = try await Self.filled()
        try directory.execute("UPDATE task SET transfer_id = 99999 WHERE id = 7")
        #expect(throws: StoreError.damaged(["task 7 refers to a missing row of transfer"])) {
            try TaskStore.check(at: directory.database, thoroughly: true)
        }
    }

    @Test func recoveryKeepsAGoodDatabaseWholeUnderANewID() async throws {
        let (directory, storeID) = try await Self.filled()
        let before = directory.bytes()
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.losses.isEmpty)
        #expect(report.salvaged["task"] == 2000)
        #expect(report.salvaged["transfer"] == 200)
        #expect(FileManager.default.contents(atPath: report.setAside) == before)
        try TaskStore.check(at: directory.database, thoroughly: true)
        let store = try directory.open()
        #expect(store.storeID != storeID)
        #expect(try await store.read { try $0.counts.byState() } == [.queued: 1800, .paused: 200])
        #expect(try await store.read { try $0.nextHosts(priority: .normal, limit: 1) } == ["host1"])
        #expect(try await store.read { try $0.settings.find("a") } == "b")
        #expect(try await store.write { try $0.add(1) } == [TaskID(2001)])
        #expect(try await store.read { try $0.events.lastSeq() } == 2000)
        try store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 2)
    }

    @Test(arguments: ["task", "event", "transfer", "segment"])
    func recoverySalvagesTheRowsAroundADamagedPage(table: String) async throws {
        let (directory, _) = try await Self.filled()
        try Self.damage(table, directory, pages: 2)
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.losses.count == 1)
        #expect(report.losses.first?.hasPrefix("\(table):") == true)
        try TaskStore.check(at: directory.database, thoroughly: true)
        let store = try directory.open()
        let whole = ["task": 2000, "event": 2000, "transfer": 200, "segment": 200]
        for (name, count) in whole where name != "segment" {
            let salvaged = try #require(report.salvaged[name])
            if name == table { #expect(salvaged < count && salvaged > count / 4) } else { #expect(salvaged == count) }
        }
        #expect(try await store.read { try $0.tasks.find(TaskID(2000)) } != nil)
        #expect(try await store.write { try $0.add(1) } == [TaskID(2001)])
        try store.close()
    }

    @Test func recoverySalvagesRowsThatAreOnlyInTheLog() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { try $0.add(3) }
        let left = try StoreDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: left.database + suffix)
        }
        try store.close()
        let report = try TaskStore.recover(at: left.database, now: noon)
        #expect(report.salvaged["task"] == 3)
        #expect(FileManager.default.fileExists(atPath: report.setAside + "-wal"))
        let again = try left.open()
        #expect(!again.wasStoppedUncleanly)
        #expect(try await again.read { try $0.counts.byState() } == [.queued: 3])
        try again.close()
    }

    @Test func recoveryReplacesAnUnreadableDatabaseByAnEmptyOne() async throws {
        let directory = try StoreDirectory()
        let noise = Data(repeating: 0x5A, count: 8192)
        try noise.write(to: URL(fileURLWithPath: directory.database))
        let first = try TaskStore.recover(at: directory.database, now: noon)
        #expect(!first.losses.isEmpty)
        #expect(FileManager.default.contents(atPath: first.setAside) == noise)
        let store = try directory.open()
        #expect(try await store.read { try $0.counts.byState() } == [:])
        try store.close()
        // A second time in the same second takes another name.
        #expect(try TaskStore.recover(at: directory.database, now: noon).setAside != first.setAside)
    }
}
