import GRDB
import Testing
import XferModel

@testable import XferStore

/// Databases of later schemas than the first release's are opened by every later program, with all that is in them.
struct OldSchemaTests {
    @Test func aDatabaseOfSchema28IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(28))
        let store = try directory.open()
        let found = try await store.read { try $0.secureHosts.list(limit: 9) }
        let known = SecureHost(
            host: "example.org", includesSubdomains: true, expiresAt: Timestamp(microseconds: 4_102_444_800_000_000),
            notedAt: Timestamp(microseconds: 1_767_323_045_000_000))
        #expect(found == [known])
        let later = SecureHost(
            host: "a.test", includesSubdomains: false, expiresAt: Timestamp(microseconds: .max),
            notedAt: known.notedAt.advanced(by: .seconds(1))
        )
        try await store.write { tx in
            try tx.secureHosts.set(later)
            try tx.secureHosts.set(later)
        }
        #expect(try await store.read { try $0.secureHosts.list(limit: 1) } == [later])
        try await store.write { try $0.secureHosts.remove("example.org") }
        #expect(try await store.read { try $0.secureHosts.list(limit: 9) } == [later])
        try await store.write { try $0.secureHosts.remove(later.host) }
        #expect(try await store.read { try $0.secureHosts.list(limit: 9) }.isEmpty)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema29IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(29))
        let store = try directory.open()
        #expect(try await store.read { try $0.tokens.all() }.first?.token.directory == "/srv/phone")
        let next = AccessToken(
            name: "tablet", owner: Owner(uid: 1000), scope: .add, createdAt: noon, directory: "/srv/tablet")
        _ = try await store.write { tx in
            try tx.tokens.add(StoredToken(token: next, digest: [UInt8](repeating: 1, count: 32)))
        }
        #expect(try await store.read { try $0.tokens.all() }.last?.token.directory == "/srv/tablet")
        try store.close()
    }

    @Test func aDatabaseOfSchema30IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(30))
        let store = try directory.open()
        #expect(try await store.read { try !$0.dependencies.hasOpenTargets(TaskID(1)) })
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema31IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(31))
        let store = try directory.open()
        // With the copy of a file, which a later schema counts.
        #expect(try await store.read { try $0.storedBytes.total(of: Owner(uid: 1000)) } == 109_000)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema33IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(33))
        let store = try directory.open()
        let stored = try #require(try await store.read { try $0.operations.find(OperationID(3)) })
        #expect(stored.verb == .remove && stored.deletesFiles && !stored.isOperator && stored.owner == Owner(uid: 1000))
        #expect(stored.filter == #"{"group":"nightly"}"#)
        #expect(stored.last == TaskID(9) && stored.reached == TaskID(4) && stored.state == .running)
        #expect(stored.counts.changed == 3 && stored.counts.unchanged == 1 && stored.counts.filesDeleted == 2)
        #expect(stored.report.kept.map(\.path) == ["/d/f"] && stored.counts.filesKept == 1)
        #expect(stored.endedAt == nil && stored.reportedAt == Timestamp(microseconds: 1_767_323_046_000_000))
        #expect(try await store.read { try $0.operations.next(of: Owner(uid: 1000)) } == stored)
        var next = stored
        next.id = OperationID(0)
        let inserting = next
        #expect(try await store.write { try $0.operations.insert(inserting).id } == OperationID(4))
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// RFC 1321 and FIPS 180-2 have these digests for "abc".
    @Test func aDatabaseOfSchema34IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(34))
        let store = try directory.open()
        let known = try Checksum(parsing: "md5=900150983cd24fb0d6963f7d28e17f72")
        let other = try Checksum(
            parsing: "sha-256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(try await store.read { try $0.publishedFiles.digest(of: TaskID(3)) } == known)
        #expect(try await store.write { try $0.publishedFiles.recordDigest(other, of: TaskID(3)) } == known)
        #expect(try await store.write { try $0.publishedFiles.recordDigest(other, of: TaskID(4711)) } == nil)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema35IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(35))
        let store = try directory.open()
        let owner = Owner(uid: 1000)
        let waiting = try await store.read { try $0.deliveries.waiting(of: owner) }
        #expect(waiting.bytes == 585 && waiting.isDiscarding)
        #expect(try await store.read { try $0.deliveries.discarded() } == 7)
        try await store.write { try $0.deliveries.remove(5) }
        #expect(try await store.read { try $0.deliveries.waiting(of: owner).bytes } == 286)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema36IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(36))
        let store = try directory.open()
        let stored = try #require(try await store.read { try $0.operations.find(OperationID(4)) })
        #expect(stored.verb == .update && stored.changes == #"{"priority":"low"}"#)
        #expect(
            stored.rights
                == OperationRights(
                    mayNameLeases: false, groups: [1000, 27], roots: ["/srv"], maxPriority: .normal, isConfined: true,
                    confinement: "/srv/phone"))
        var next = stored
        next.id = OperationID(0)
        let inserting = next
        let inserted = try await store.write { try $0.operations.insert(inserting) }
        #expect(try await store.read { try $0.operations.find(inserted.id) } == inserted)
        #expect(try await store.read { try $0.operations.find(OperationID(3)) }?.rights == nil)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func theCopiesOfAnOlderSchemaAreCounted() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(34))
        let store = try directory.open()
        // A long row of 9,000, and the copy of a file of 100,000 bytes.
        #expect(try await store.read { try $0.storedBytes.total(of: Owner(uid: 1000)) } == 109_000)
        try await store.write { try $0.spool.removeSources(of: TaskID(9)) }
        #expect(try await store.read { try $0.storedBytes.total(of: Owner(uid: 1000)) } == 9000)
        try store.close()
    }

    @Test func aFileOfAnOlderSchemaGetsItsDigestLater() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(33))
        let store = try directory.open()
        #expect(try await store.read { try $0.publishedFiles.digest(of: TaskID(3)) } == nil)
        let digest = try Checksum(parsing: "md5=900150983cd24fb0d6963f7d28e17f72")
        #expect(try await store.write { try $0.publishedFiles.recordDigest(digest, of: TaskID(3)) } == digest)
        #expect(try await store.read { try $0.publishedFiles.digest(of: TaskID(3)) } == digest)
        try store.close()
    }

    @Test func aDatabaseOfSchema32IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(32))
        let store = try directory.open()
        let second = UploadResumeData(
            url: HTTPURL(scheme: .https, host: "up.example", port: 443, target: "/parts/2"), offset: 500_000)
        let first = UploadResumeData(
            url: HTTPURL(scheme: .https, host: "up.example", port: 443, target: "/parts/1"), offset: 7,
            expiresAt: noon, largestAppend: 9)
        let id = TransferID(1)
        #expect(try await store.read { try $0.transfers.uploadParts(of: id) } == [1: second])
        try await store.write { try $0.transfers.setUploadPart(first, 0, of: id) }
        #expect(try await store.read { try $0.transfers.uploadParts(of: id) } == [0: first, 1: second])
        try await store.write { try $0.transfers.setUploadPart(nil, 1, of: id) }
        #expect(try await store.read { try $0.transfers.uploadParts(of: id) } == [0: first])
        #expect(try await store.read { try $0.transfers.uploadParts(of: TransferID(2)) }.isEmpty)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema22IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(22))
        let store = try directory.open()
        let found = try #require(try await store.read { try $0.briefIntents.all() }.first)
        #expect(found.task == TaskID(2) && found.intent.finalName == "photo.jpeg" && found.intent.part.length == 9)
        #expect(
            found.intent.part.mark
                == FileMark(
                    identity: FileIdentity(device: 1, inode: 79), bornAt: 1_700_000_000_000_000_008, generation: 11))
        #expect(found.intent.digest == nil)
        try await store.write { try $0.briefIntents.remove(of: [TaskID(2)]) }
        #expect(try await store.read { try $0.briefIntents.all() }.isEmpty)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema23IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(23))
        let store = try directory.open()
        let events = try await store.read { try $0.events.list(since: 0, limit: 9) }
        #expect(events.map(\.seq) == Array(1...6))
        #expect(events.suffix(3).map(\.type) == [.taskStarted, .taskResponse, .taskCompleted])
        #expect(events.suffix(3).allSatisfy { $0.taskID == TaskID(2) && $0.owner == Owner(uid: 1000) })
        #expect(try await store.write { try $0.events.append(.taskResumed, at: noon).seq } == 7)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aTaskOfAnOlderSchemaKeepsItsNextAttempt() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(23))
        let store = try directory.open()
        let trace = try #require(AttemptTrace(text: "127.0.0.1 80 HTTP/1.1 0 10 20 - 30 40 1767268800000000"))
        #expect(trace.times.nameLookup == 10 && trace.times.tls == nil && trace.times.total == 40)
        #expect(try await store.read { try $0.tasks.find(TaskID(11))?.outcome.lastAttempt } == nil)
        try await store.write { tx throws in
            guard var task = try tx.tasks.find(TaskID(11)) else { return }
            task.outcome.lastAttempt = trace
            try tx.tasks.update(task)
        }
        #expect(try await store.read { try $0.tasks.find(TaskID(11))?.outcome.lastAttempt } == trace)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aCooldownOfAnOlderSchemaEndsWithItsTask() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(26))
        let store = try directory.open()
        let before = noon.advanced(by: .seconds(-1))
        #expect(try await store.read { try $0.cooldowns.due(now: before) }.isEmpty)
        try await store.write { try $0.cooldowns.expire(causedBy: [TaskID(1)]) }
        #expect(try await store.read { try $0.cooldowns.due(now: before) }.map(\.host) == ["c.example"])
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// Rows that depend on tasks have no foreign keys any more.
    @Test(arguments: [20, 21]) func whatDependsOnATaskGoesWithIt(version: Int) async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(version))
        let store = try directory.open()
        let ids = try await store.read { reader in
            try TaskState.allCases.flatMap { try reader.tasks.list(inState: $0, limit: 1000).map(\.id) }
        }
        let (singles, many) = (ids.prefix(ids.count / 2), ids.dropFirst(ids.count / 2))
        for id in singles { try await store.write { try $0.tasks.delete(id) } }
        try await store.write { tx in try tx.tasks.deleteDependents(of: Array(many)) }
        for table in TaskDependents.tables {
            #expect(try directory.value("SELECT count(*) FROM \(table)") == "0", "\(table)")
        }
        for id in many { try await store.write { try $0.tasks.delete(id) } }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func everyOldSchemaHasATestDatabase() throws {
        #expect(SchemaFixture.newest == Migration.newest)
        for version in Migration.first...SchemaFixture.newest {
            #expect(try SchemaFixture.sql(version).contains("PRAGMA user_version = \(version);"))
        }
    }

    /// A migration that was edited after it landed shows here.
    @Test(arguments: Migration.first...SchemaFixture.newest)
    func anUpgradedDatabaseHasTheSchemaOfANewOne(version: Int) throws {
        let (old, new) = (try StoreDirectory(), try StoreDirectory())
        try old.execute(SchemaFixture.sql(version))
        func schema(_ directory: StoreDirectory) throws -> [String] {
            try directory.open().close()
            return try DatabaseQueue(path: directory.database).read {
                try String.fetchAll($0, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            }
        }
        #expect(try schema(old) == schema(new))
    }
}
