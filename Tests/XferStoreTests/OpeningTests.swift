import Foundation
import GRDB
import Testing
import XferModel

@testable import XferStore

/// Which files are opened and in what state they are left.
struct OpeningTests {
    @Test func makesTheFileForTheOwnerOnlyWithItsLog() async throws {
        let directory = StoreDirectory()
        let store = try directory.open()
        try await store.write { try $0.add(1) }
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            #expect(stat(directory.database + suffix, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        try store.close()
    }

    @Test func closesAnExistingFileToOthers() throws {
        let directory = StoreDirectory()
        try directory.open().close()
        chmod(directory.database, 0o644)
        try directory.open().close()
        var status = stat()
        #expect(stat(directory.database, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func commitsWithFullSynchronous() async throws {
        try await withStore { store in
            let (synchronous, journal, keys) = try await store.write { transaction throws in
                let database = transaction.connection.database
                return (
                    try Int.fetchOne(database, sql: "PRAGMA synchronous"),
                    try String.fetchOne(database, sql: "PRAGMA journal_mode"),
                    try Bool.fetchOne(database, sql: "PRAGMA foreign_keys")
                )
            }
            #expect(synchronous == 2)
            #expect(journal == "wal")
            #expect(keys == true)
        }
    }

    @Test func givesEveryDatabaseAnIdOfItsOwn() throws {
        let (first, second) = (StoreDirectory(), StoreDirectory())
        let stores = [try first.open(), try second.open()]
        #expect(stores[0].storeID.count == 32)
        #expect(stores[0].storeID != stores[1].storeID)
        for store in stores { try store.close() }
    }

    @Test func knowsWhetherItWasClosedAndKeepsWhatWasCommittedBeforeAKill() async throws {
        let directory = StoreDirectory()
        let store = try directory.open()
        #expect(!store.wasStoppedUncleanly)
        let id = try await store.write { try $0.add(1)[0] }
        // What a killed daemon leaves on the disk.
        let left = StoreDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: left.database + suffix)
        }
        try store.close()
        let again = try left.open()
        #expect(again.wasStoppedUncleanly)
        #expect(try await again.read { try $0.task(id) } != nil)
        try again.close()
        let closed = try left.open()
        #expect(!closed.wasStoppedUncleanly)
        try closed.close()
    }

    @Test func refusesANewerDatabaseAndLeavesItUntouched() throws {
        let directory = StoreDirectory()
        try directory.open().close()
        let newer = Migration.all.count + 1
        try directory.execute("PRAGMA user_version = \(newer)")
        let before = directory.bytes()
        #expect(throws: StoreError.newerDatabase(path: directory.database, found: newer, known: newer - 1)) {
            try directory.open()
        }
        #expect(throws: StoreError.newerDatabase(path: directory.database, found: newer, known: newer - 1)) {
            try TaskStore.check(at: directory.database, thoroughly: true)
        }
        #expect(directory.bytes() == before)
        #expect(directory.bytes("-wal")?.isEmpty ?? true)
    }

    @Test func refusesANewerDatabaseWhoseVersionIsOnlyInTheLog() throws {
        let directory = StoreDirectory()
        try directory.open().close()
        let newer = Migration.all.count + 1
        let queue = try DatabaseQueue(path: directory.database)
        try queue.write { try $0.execute(sql: "PRAGMA user_version = \(newer)") }
        let left = StoreDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: left.database + suffix)
        }
        try queue.close()
        #expect(throws: StoreError.newerDatabase(path: left.database, found: newer, known: newer - 1)) {
            try left.open()
        }
    }

    @Test func refusesOtherProgramsFilesAndLeavesThemUntouched() throws {
        let directory = StoreDirectory()
        try directory.execute("CREATE TABLE cookie (a)")
        let before = directory.bytes()
        #expect(throws: StoreError.foreignFile(path: directory.database)) { try directory.open() }
        #expect(directory.bytes() == before)

        let text = StoreDirectory()
        try Data("hello".utf8).write(to: URL(fileURLWithPath: text.database))
        #expect(throws: StoreError.foreignFile(path: text.database)) { try text.open() }
        #expect(text.bytes() == Data("hello".utf8))
    }

    @Test func saysWhatIsWrongWithThePath() throws {
        let directory = StoreDirectory()
        #expect(throws: StoreError.cannotOpen(path: directory.path, reason: "Is a directory")) {
            try TaskStore.open(StoreConfiguration(path: directory.path))
        }
        let missing = directory.path + "/no/xferd.sqlite"
        #expect(throws: StoreError.cannotOpen(path: missing, reason: "No such file or directory")) {
            try TaskStore.open(StoreConfiguration(path: missing))
        }
    }

    @Test func opensAnEmptyFile() throws {
        let directory = StoreDirectory()
        try Data().write(to: URL(fileURLWithPath: directory.database))
        try directory.open().close()
    }

    /// Databases of every schema that was ever released, for ever.
    @Test func opensADatabaseOfSchema1() async throws {
        let directory = StoreDirectory()
        try directory.execute(SchemaFixtures.version1)
        let store = try directory.open()
        try await store.read { reader throws in
            let task = try #require(try reader.task(TaskID(1)))
            #expect(task.specification.request.url.string == "https://example.com/file?a=b")
            #expect(task.specification.request.headers == [HeaderField(name: "X-A", value: "b")])
            #expect(task.specification.clientKey == "key")
            #expect(try reader.earlierAdd(of: task.specification)?.askedForTheSame == true)
            #expect(task.state == .running)
            #expect(task.transferID == TransferID(1))
            #expect(task.furthest == 4096)
            #expect(task.specification.destination.directoryIdentity == FileIdentity(device: 1, inode: 2))
            #expect(try reader.transfer(TransferID(1))?.resumeData.committedByteCount == 4096)
            #expect(try reader.nextHosts(priority: .high, limit: 9) == ["b.example:8080"])
            #expect(try reader.counts() == [.running: 1, .queued: 1, .failed: 1])
            #expect(try reader.task(TaskID(3))?.error?.reason == .httpStatus)
            #expect(try reader.events(since: 0, limit: 9).map(\.type) == [.taskAdded, .taskStarted, .taskFailed])
            #expect(try reader.setting("queue.paused") == "true")
            #expect(try reader.holder(ofName: "file", in: FileIdentity(device: 1, inode: 2)) == TaskID(1))
        }
        #expect(try await store.write { try $0.add(1) } == [TaskID(5)])
        #expect(try await store.write { try $0.append(.taskResumed, at: noon).seq } == 4)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func opensADatabaseOfSchema2() async throws {
        let directory = StoreDirectory()
        try directory.execute(SchemaFixtures.version2)
        let store = try directory.open()
        try await store.read { reader throws in
            let task = try #require(try reader.task(TaskID(1)))
            #expect(task.specification.policy == "bank")
            #expect(try reader.earlierAdd(of: task.specification)?.askedForTheSame == true)
            #expect(try reader.task(TaskID(2))?.specification.policy == nil)
            #expect(try reader.unfinishedTasks(namingPolicy: "bank", limit: 9) == [TaskID(1)])
            let stored = try reader.policies()
            #expect(stored.map(\.policy.name) == ["bank", "file"])
            #expect(stored.map(\.policy.version) == [3, 2])
            #expect(stored.map(\.isConfigured) == [false, true])
            #expect(stored.map(\.warned) == [30, nil])
            #expect(stored.first?.policy.pins.count == 1 && stored.first?.policy.mode == .publicKey)
        }
        #expect(try await store.write { try $0.setPolicy(.fixture("other"), isConfigured: false).version } == 5)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func opensADatabaseOfSchema5() async throws {
        let directory = StoreDirectory()
        try directory.execute(SchemaFixtures.version5)
        let store = try directory.open()
        try await store.read { reader throws in
            let task = try #require(try reader.task(TaskID(4)))
            #expect(task.state == .cancelled)
            #expect(task.specification.upload.uploadProtocol == .tus)
            #expect(task.specification.profile == "api")
            #expect(task.sent == 500)
            #expect(try reader.result(of: TaskID(3))?.content == .inline([0x6e, 0x6f]))
            #expect(try reader.spooledSources(of: TaskID(2)) == ["0123abcd"])
            #expect(try reader.cookies(ofProfile: "api").map(\.name) == ["a"])
            #expect(try reader.transfer(TransferID(1))?.sources.map(\.chain) == [[[1, 2, 3]]])
            // What a daemon left that was killed right after a cancel.
            #expect(try reader.orphanedTransfers(limit: 9).map(\.id) == [TransferID(2)])
            #expect(try reader.upload(of: TransferID(2))?.url.string == "https://up.example/uploads/7")
            #expect(try reader.dueAbandonedUploads(now: noon, limit: 9).isEmpty)
        }
        try await store.write { tx throws in
            try tx.abandonUpload(of: try #require(try tx.task(TaskID(4))), at: noon)
        }
        #expect(try await store.read { try $0.dueAbandonedUploads(now: noon, limit: 9) }.map(\.taskID) == [TaskID(4)])
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// A migration that was edited after it landed shows here.
    @Test(arguments: [SchemaFixtures.version1, SchemaFixtures.version2, SchemaFixtures.version5])
    func bringsADatabaseOfAnOldSchemaToTheSchemaOfANewOne(_ fixture: String) throws {
        let (old, new) = (StoreDirectory(), StoreDirectory())
        try old.execute(fixture)
        func schema(_ directory: StoreDirectory) throws -> [String] {
            try directory.open().close()
            return try DatabaseQueue(path: directory.database).read {
                try String.fetchAll($0, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            }
        }
        #expect(try schema(old) == schema(new))
    }
}
