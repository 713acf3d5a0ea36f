import Foundation
import GRDB
import Testing
import XferModel

@testable import XferStore

/// Which files are opened and in what state they are left.
struct OpeningTests {
    @Test func aNewDatabaseAndItsLogArePrivateToTheOwner() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { try $0.add(1) }
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            #expect(stat(directory.database + suffix, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        try store.close()
    }

    @Test func openingMakesAnExistingFilePrivate() throws {
        let directory = try StoreDirectory()
        try directory.open().close()
        chmod(directory.database, 0o644)
        try directory.open().close()
        var status = stat()
        #expect(stat(directory.database, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func commitsUseFullSynchronous() async throws {
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

    /// As without a free descriptor: a connection for reading cannot be opened, the writer's is there.
    @Test func aReadThatGetsNoConnectionOfItsOwnIsDoneByTheWriter() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.add(1)[0] }
        let away = directory.database + ".away"
        #expect(rename(directory.database, away) == 0)
        #expect(try await store.read { try $0.tasks.find(id)?.id } == id)
        #expect(rename(away, directory.database) == 0)
        try store.close()
    }

    @Test func givesEveryDatabaseAnIdOfItsOwn() throws {
        let (first, second) = (try StoreDirectory(), try StoreDirectory())
        let stores = [try first.open(), try second.open()]
        #expect(stores[0].storeID.count == 32)
        #expect(stores[0].storeID != stores[1].storeID)
        for store in stores { try store.close() }
    }

    @Test func anUncleanStopIsDetectedAndCommittedRowsSurviveIt() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        #expect(!store.wasStoppedUncleanly)
        let id = try await store.write { try $0.add(1)[0] }
        // What a killed daemon leaves on the disk.
        let left = try StoreDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: left.database + suffix)
        }
        try store.close()
        let again = try left.open()
        #expect(again.wasStoppedUncleanly)
        #expect(try await again.read { try $0.tasks.find(id) } != nil)
        try again.close()
        let closed = try left.open()
        #expect(!closed.wasStoppedUncleanly)
        try closed.close()
    }

    @Test func aNewerDatabaseIsRefusedAndLeftUntouched() throws {
        let directory = try StoreDirectory()
        try directory.open().close()
        let newer = Migration.newest + 1
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

    @Test func aDatabaseWhoseNewerVersionIsOnlyInTheLogIsRefused() throws {
        let directory = try StoreDirectory()
        try directory.open().close()
        let newer = Migration.newest + 1
        let queue = try DatabaseQueue(path: directory.database)
        try queue.write { try $0.execute(sql: "PRAGMA user_version = \(newer)") }
        let left = try StoreDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: left.database + suffix)
        }
        try queue.close()
        #expect(throws: StoreError.newerDatabase(path: left.database, found: newer, known: newer - 1)) {
            try left.open()
        }
    }

    @Test(arguments: [1, 19]) func aDatabaseOfADevelopmentVersionIsRefusedWithWhatToDo(version: Int) throws {
        let directory = try StoreDirectory()
        try directory.execute(
            """
            CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO migration (number, name) VALUES (\(version), 'a step');
            PRAGMA application_id = \(Migration.applicationID);
            PRAGMA user_version = \(version);
            """)
        let expected = StoreError.olderDatabase(path: directory.database, found: version, oldest: 20)
        #expect(throws: expected) { try directory.open() }
        #expect(throws: expected) { try TaskStore.check(at: directory.database, thoroughly: true) }
        #expect(expected.description.contains("has schema \(version), expected 20 or higher"))
        #expect(expected.isDamage)
        #expect(try directory.value("SELECT name FROM migration") == "a step")
    }

    @Test func filesOfOtherProgramsAreRefusedAndLeftUntouched() throws {
        let directory = try StoreDirectory()
        try directory.execute("CREATE TABLE cookie (a)")
        let before = directory.bytes()
        #expect(throws: StoreError.foreignFile(path: directory.database)) { try directory.open() }
        #expect(directory.bytes() == before)

        let text = try StoreDirectory()
        try Data("hello".utf8).write(to: URL(fileURLWithPath: text.database))
        #expect(throws: StoreError.foreignFile(path: text.database)) { try text.open() }
        #expect(text.bytes() == Data("hello".utf8))
    }

    @Test func anUnusablePathIsReportedWithTheReason() throws {
        let directory = try StoreDirectory()
        #expect(throws: StoreError.cannotOpen(path: directory.path, reason: "Is a directory")) {
            try TaskStore.open(StoreConfiguration(path: directory.path))
        }
        let missing = directory.path + "/no/xferd.sqlite"
        #expect(throws: StoreError.cannotOpen(path: missing, reason: "No such file or directory")) {
            try TaskStore.open(StoreConfiguration(path: missing))
        }
    }

    @Test func anEmptyFileIsOpenedAsANewDatabase() throws {
        let directory = try StoreDirectory()
        try Data().write(to: URL(fileURLWithPath: directory.database))
        try directory.open().close()
    }
}
