import GRDB
import Testing
import XferModel

@testable import XferStore

/// Databases of every schema that was ever released are opened by every later program, with all that is in them.
struct OldSchemaTests {
    @Test func aDatabaseOfSchema1IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(1))
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

    @Test func aDatabaseOfSchema2IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(2))
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

    @Test func aDatabaseOfSchema3IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(3))
        let store = try directory.open()
        try await store.read { reader throws in
            try Self.expectRequestsAndUploads(reader)
            #expect(try reader.counts() == [.running: 2, .queued: 1, .failed: 1, .completed: 2, .paused: 1])
            #expect(try reader.transfer(TransferID(1))?.sources == [])
        }
        #expect(try await store.write { try $0.add(1) } == [TaskID(9)])
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema4IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(4))
        let store = try directory.open()
        try await store.read { reader throws in
            try Self.expectRequestsAndUploads(reader)
            try Self.expectSources(reader)
            // Answers that are older than the note how long they were kept are the first to expire.
            let expired = try reader.expiredResults(olderThan: noon, limit: 9)
            #expect(expired.map(\.id) == [TaskID(5), TaskID(6)])
            #expect(try reader.spooledSources(of: TaskID(7)) == [])
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema5IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(5))
        let store = try directory.open()
        try await store.read { reader throws in
            try Self.expectRequestsAndUploads(reader)
            try Self.expectSources(reader)
            #expect(try reader.expiredResults(olderThan: noon, limit: 9).isEmpty)
            #expect(try reader.spooledSources(of: TaskID(9)) == ["c0ffee"])
            #expect(try reader.isWanted(spoolFile: "c0ffee"))
            guard case .file(let copy)? = try reader.body(of: TaskID(9)) else {
                Issue.record("no body")
                return
            }
            #expect(copy.spoolName == "c0ffee" && copy.path == "/srv/photo.jpeg")
            #expect(
                try reader.task(TaskID(9))?.specification.upload
                    == UploadOptions(uploadProtocol: .plain, isSpooled: true))
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema6IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(6))
        let store = try directory.open()
        try await store.read { reader throws in
            try Self.expectAbandonedUpload(reader)
            // A list that begins empty, with a key of the database's own.
            #expect(try !reader.hasFailedURLs())
            #expect(try reader.digestKey().count == 32)
            #expect(try reader.task(TaskID(1))?.specification.slot == nil)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema7IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(7))
        let store = try directory.open()
        try await store.read { reader throws in
            try Self.expectAbandonedUpload(reader)
            #expect(try reader.digestKey().starts(with: [0x4d, 0x89, 0xe6, 0x2a]))
            let failed = try #require(try reader.failedURL(key: [0, 255], within: noon...noon))
            #expect(failed.url == "https://c.example/files/file-3.bin" && failed.method == .get)
            #expect(failed.owner == Owner(uid: 1000) && failed.taskID == TaskID(3) && failed.error.httpStatus == 404)
            #expect(try reader.tasks(inSlot: "avatar", of: Owner(uid: 1000)).map(\.id) == [TaskID(1)])
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema8IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(8))
        let store = try directory.open()
        try await store.read { reader throws in
            #expect(try reader.task(TaskID(1))?.coalesceKey == [0xc0, 0xff, 0xee, 1])
            #expect(try reader.task(TaskID(3))?.coalesceKey == nil)
            #expect(try reader.queued(coalescing: [0xc0, 0xff, 0xee, 1], limit: 9).map(\.id) == [TaskID(2)])
            #expect(try reader.transfers(keptUnder: [0xc0, 0xff, 0xee, 1], limit: 9).map(\.id) == [TransferID(1)])
            #expect(try reader.isHeld(TransferID(1)) && !reader.isHeld(TransferID(1), but: TaskID(1)))
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema9IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(9))
        let store = try directory.open()
        try await store.read { reader throws in
            let entry = try #require(try reader.cacheEntries(key: [0xc0, 0xff, 0xee, 2]).first)
            #expect(entry.id == CacheEntryID(1) && entry.owner == Owner(uid: 1000) && entry.blob == "blob-1")
            #expect(entry.response.url.string == "https://example.com/list?token=x" && entry.response.isRedirected)
            #expect(entry.response.variant == [HeaderField(name: "accept", value: "0102")])
            #expect(entry.response.sources.map(\.chain) == [[[1, 2], [3]]])
            #expect(try reader.cacheTotals() == CacheTotals(count: 1, byteCount: 4096))
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema10IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(10))
        let store = try directory.open()
        try await store.read { reader throws in
            let ready = try #require(try reader.readyFile(of: TaskID(1)))
            #expect(ready.name == ".xfer-5eed5eed-1-c0ffee.hook" && ready.finalName == "file" && ready.isProcessed)
            #expect(ready.facts?.identity == FileIdentity(device: 1, inode: 77) && ready.facts?.length == 9)
            #expect(ready.facts?.modifiedAt == 1_700_000_000_123_456_789 && ready.digest?.algorithm == .sha256)
            #expect(
                try reader.publishedFile(of: TaskID(3))
                    == PublishedFile(
                        mark: FileMark(identity: FileIdentity(device: 1, inode: 78)), length: 9, version: "1.0"))
            #expect(try reader.byteVersion(of: TransferID(2)) == "1.3")
            #expect(try reader.byteVersion(of: TransferID(1)) == "1.0")
            let hook = try #require(try reader.pendingHooks(limit: 9).first)
            #expect(hook.id == 5 && hook.taskID == TaskID(3) && hook.occasion == .onError && hook.hook == "tell")
            #expect(hook.description == "{\"id\":3}" && hook.path == nil)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema11IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(11))
        let store = try directory.open()
        try await store.read { reader throws in
            let schedule = try #require(try reader.task(TaskID(2))?.specification.schedule)
            let night = try #require(DailyTimes("22:00-06:00"))
            #expect(
                schedule
                    == TaskSchedule(
                        notBefore: noon,
                        window: TimeWindow(times: [night], days: [.saturday, .sunday], zone: "Europe/Berlin"),
                        deadline: noon.advanced(by: .seconds(86_400)), after: [TaskID(3), TaskID(77)]))
            #expect(try reader.earliestCondition() == noon.advanced(by: .seconds(60)))
            #expect(try reader.dependencies(of: TaskID(2)) == DependencyStanding(openCount: 1))
            #expect(try reader.nextEndedTarget() == EndedTarget(id: TaskID(3), outcome: .failed))
            #expect(try reader.openDependents(of: TaskID(3), limit: 9) == [TaskID(2)])
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema12IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(12))
        let store = try directory.open()
        let owner = Owner(uid: 1000)
        try await store.read { reader throws in
            #expect(
                try reader.groups(limit: 9) == [
                    TaskGroup(
                        key: GroupKey(owner: owner, name: "batch-1"), limits: GroupLimits(maxActive: 3),
                        batch: BatchID(1),
                        counts: [.paused: 1, .completed: 1, .queued: 1]),
                    TaskGroup(
                        key: GroupKey(owner: owner, name: "group"),
                        limits: GroupLimits(maxActive: 2, maxReceiveRate: 1 << 20), isPaused: true,
                        counts: [.running: 1]),
                ])
            let batch = try #require(try reader.batch(BatchID(1)))
            #expect(batch.total == 4 && batch.finished == 2 && batch.skipped == 1 && batch.completedAt == nil)
            #expect(try reader.members(of: BatchID(1), limit: 9) == [TaskID(10), TaskID(11), TaskID(12)])
            #expect(try reader.task(TaskID(11))?.batchID == BatchID(1))
            #expect(try reader.nextLane(priority: .low)?.group?.name == "batch-1")
            let earlier = try #require(try reader.earlierBatch(owner: owner, clientKey: "images", asked: "other"))
            #expect(earlier.id == BatchID(1) && !earlier.askedForTheSame && earlier.refused?.isEmpty == false)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema18IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(18))
        let store = try directory.open()
        try await store.read { reader throws in
            let transfer = try #require(try reader.transfer(TransferID(1)))
            #expect(
                transfer.resumeData.part
                    == PartRecord(
                        mark: FileMark(
                            identity: FileIdentity(device: 1, inode: 77), bornAt: 1_700_000_000_123_456_789,
                            generation: .max),
                        rest: PartRecord.Rest(length: 4096, modifiedAt: 1_700_000_000_123_456_790)))
            let intent = try #require(transfer.publishIntent)
            #expect(intent.part.mark.bornAt == 1_700_000_000_000_000_001 && intent.part.mark.generation == 7)
            #expect(intent.part.length == 10_000 && intent.part.modifiedAt == -1)
            #expect(intent.digest?.bytes == Array(repeating: 10, count: 32))
            #expect(try reader.transfer(TransferID(2))?.resumeData.part == nil)
            #expect(try reader.readyFile(of: TaskID(1))?.facts?.mark.generation == 9)
            #expect(try reader.publishedFile(of: TaskID(3))?.modifiedAt == 1_700_000_000_000_000_007)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema13IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(13))
        let store = try directory.open()
        try await store.read { reader throws in
            #expect(
                try reader.task(TaskID(2))?.specification.mirrors.map(\.string)
                    == ["https://c.example/f?x=y", "http://d.example/"])
            #expect(try reader.task(TaskID(1))?.specification.mirrors == [])
            #expect(
                try reader.transfer(TransferID(1))?.sourceUse
                    == SourceUse(
                        described: 2, senders: [0, 2], unprovenFrom: 0, suspects: [0, 3], condemned: [3]))
            #expect(try reader.transfer(TransferID(2))?.sourceUse == SourceUse())
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema14IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(14))
        let store = try directory.open()
        try await store.read { reader throws in
            let lane = try #require(try reader.nextLane(priority: .low))
            #expect(lane.profile == "work" && lane.host == "images.example" && lane.group?.name == "batch-1")
            #expect(try reader.heads(of: lane, order: .fifo, limit: 9) == [TaskID(12)])
            #expect(try reader.nextLane(priority: .low, without: LaneExclusions(profiles: ["work"])) == nil)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema17IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(17))
        let store = try directory.open()
        try await store.read { reader throws in
            #expect(try reader.crashCount(of: TaskID(2)) == 1 && reader.crashCount(of: TaskID(1)) == 0)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema19IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(19))
        let store = try directory.open()
        let due = noon.advanced(by: .seconds(60))
        try await store.read { reader throws in
            #expect(try reader.webhookWithDeliveries(after: "") == "deploy")
            #expect(try reader.dueDeliveries(of: "deploy", now: noon, limit: 9).isEmpty)
            #expect(try reader.nextDelivery(of: "deploy", after: noon) == due)
            let delivery = try #require(try reader.dueDeliveries(of: "deploy", now: due, limit: 9).first)
            #expect(delivery.id == 3 && delivery.webhook == "deploy" && delivery.attempts == 4)
            #expect(delivery.key == "dad9c46e3960d7572426b76f5444d436-2-deploy" && delivery.createdAt == noon)
            #expect(delivery.body == "{\"seq\":2,\"type\":\"task.failed\"}")
            let standing = try reader.standing(ofWebhook: "deploy")
            #expect(standing.failures == 2 && standing.pausedUntil == noon.advanced(by: .seconds(30)))
            #expect(standing.lastFailure == "ci.example answered 503 (Service Unavailable)")
            let counts = try reader.deliveryCounts(of: "audit")
            #expect(counts.pending == 0 && counts.failed == 1)
        }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema20IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(20))
        let store = try directory.open()
        let stored = try #require(try await store.read { try $0.tokens() }.first)
        #expect(stored.token.id == 3 && stored.token.name == "phone" && stored.token.scope == .add)
        #expect(stored.token.owner == Owner(uid: 1000) && stored.token.expiresAt != nil)
        #expect(stored.digest == [UInt8](repeating: 0xAB, count: 32))
        try await store.write { try $0.removeToken(named: "phone") }
        let next = AccessToken(name: "phone", owner: Owner(uid: 1000), scope: .read, createdAt: noon)
        let added = try await store.write { tx in
            try tx.addToken(StoredToken(token: next, digest: [UInt8](repeating: 1, count: 32)))
        }
        #expect(added.token.id > 3, "the id of a revoked token is not used again")
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema28IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(28))
        let store = try directory.open()
        let found = try await store.read { try $0.secureHosts(limit: 9) }
        let known = SecureHost(
            host: "example.org", includesSubdomains: true, expiresAt: Timestamp(microseconds: 4_102_444_800_000_000),
            notedAt: Timestamp(microseconds: 1_767_323_045_000_000))
        #expect(found == [known])
        let later = SecureHost(
            host: "a.test", includesSubdomains: false, expiresAt: Timestamp(microseconds: .max),
            notedAt: known.notedAt.advanced(by: .seconds(1))
        )
        try await store.write { tx in
            try tx.setSecureHost(later)
            try tx.setSecureHost(later)
        }
        #expect(try await store.read { try $0.secureHosts(limit: 1) } == [later])
        try await store.write { try $0.removeSecureHost("example.org") }
        #expect(try await store.read { try $0.secureHosts(limit: 9) } == [later])
        try await store.write { try $0.removeSecureHosts() }
        #expect(try await store.read { try $0.secureHosts(limit: 9) }.isEmpty)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema29IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(29))
        let store = try directory.open()
        #expect(try await store.read { try $0.tokens() }.first?.token.directory == "/srv/phone")
        let next = AccessToken(
            name: "tablet", owner: Owner(uid: 1000), scope: .add, createdAt: noon, directory: "/srv/tablet")
        _ = try await store.write { tx in
            try tx.addToken(StoredToken(token: next, digest: [UInt8](repeating: 1, count: 32)))
        }
        #expect(try await store.read { try $0.tokens() }.last?.token.directory == "/srv/tablet")
        try store.close()
    }

    @Test func aDatabaseOfSchema30IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(30))
        let store = try directory.open()
        #expect(try await store.read { try !$0.hasOpenTargets(TaskID(1)) })
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema31IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(31))
        let store = try directory.open()
        #expect(try await store.read { try $0.storedBytes(of: Owner(uid: 1000)) } == 9000)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema33IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(33))
        let store = try directory.open()
        let stored = try #require(try await store.read { try $0.operation(OperationID(3)) })
        #expect(stored.verb == .remove && stored.deletesFiles && !stored.isOperator && stored.owner == Owner(uid: 1000))
        #expect(stored.filter == #"{"group":"nightly"}"#)
        #expect(stored.last == TaskID(9) && stored.reached == TaskID(4) && stored.state == .running)
        #expect(stored.counts.changed == 3 && stored.counts.unchanged == 1 && stored.counts.filesDeleted == 2)
        #expect(stored.report.kept.map(\.path) == ["/d/f"] && stored.counts.filesKept == 1)
        #expect(stored.endedAt == nil && stored.reportedAt == Timestamp(microseconds: 1_767_323_046_000_000))
        #expect(try await store.read { try $0.nextOperation(of: Owner(uid: 1000)) } == stored)
        var next = stored
        next.id = OperationID(0)
        let inserting = next
        #expect(try await store.write { try $0.insert(inserting).id } == OperationID(4))
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
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
        #expect(try await store.read { try $0.uploadParts(of: id) } == [1: second])
        try await store.write { try $0.setUploadPart(first, 0, of: id) }
        #expect(try await store.read { try $0.uploadParts(of: id) } == [0: first, 1: second])
        try await store.write { try $0.setUploadPart(nil, 1, of: id) }
        #expect(try await store.read { try $0.uploadParts(of: id) } == [0: first])
        #expect(try await store.read { try $0.uploadParts(of: TransferID(2)) }.isEmpty)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema22IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(22))
        let store = try directory.open()
        let found = try #require(try await store.read { try $0.briefIntents() }.first)
        #expect(found.task == TaskID(2) && found.intent.finalName == "photo.jpeg" && found.intent.part.length == 9)
        #expect(
            found.intent.part.mark
                == FileMark(
                    identity: FileIdentity(device: 1, inode: 79), bornAt: 1_700_000_000_000_000_008, generation: 11))
        #expect(found.intent.digest == nil)
        try await store.write { try $0.removeBriefIntents(of: [TaskID(2)]) }
        #expect(try await store.read { try $0.briefIntents() }.isEmpty)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aDatabaseOfSchema23IsOpened() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(23))
        let store = try directory.open()
        let events = try await store.read { try $0.events(since: 0, limit: 9) }
        #expect(events.map(\.seq) == Array(1...6))
        #expect(events.suffix(3).map(\.type) == [.taskStarted, .taskResponse, .taskCompleted])
        #expect(events.suffix(3).allSatisfy { $0.taskID == TaskID(2) && $0.owner == Owner(uid: 1000) })
        #expect(try await store.write { try $0.append(.taskResumed, at: noon).seq } == 7)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aTaskOfAnOlderSchemaKeepsItsNextAttempt() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(23))
        let store = try directory.open()
        let trace = try #require(AttemptTrace(text: "127.0.0.1 80 HTTP/1.1 0 10 20 - 30 40 1767268800000000"))
        #expect(trace.times.nameLookup == 10 && trace.times.tls == nil && trace.times.total == 40)
        #expect(try await store.read { try $0.task(TaskID(11))?.outcome.lastAttempt } == nil)
        try await store.write { tx throws in
            guard var task = try tx.task(TaskID(11)) else { return }
            task.outcome.lastAttempt = trace
            try tx.update(task)
        }
        #expect(try await store.read { try $0.task(TaskID(11))?.outcome.lastAttempt } == trace)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func aCooldownOfAnOlderSchemaEndsWithItsTask() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(26))
        let store = try directory.open()
        let before = noon.advanced(by: .seconds(-1))
        #expect(try await store.read { try $0.dueCooldowns(now: before) }.isEmpty)
        try await store.write { try $0.endCooldowns(causedBy: [TaskID(1)]) }
        #expect(try await store.read { try $0.dueCooldowns(now: before) }.map(\.host) == ["c.example"])
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// Rows that depend on tasks have no foreign keys any more.
    @Test(arguments: [20, 21]) func whatDependsOnATaskGoesWithIt(version: Int) async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(version))
        let store = try directory.open()
        let ids = try await store.read { reader in
            try TaskState.allCases.flatMap { try reader.tasks(inState: $0, limit: 1000).map(\.id) }
        }
        let (singles, many) = (ids.prefix(ids.count / 2), ids.dropFirst(ids.count / 2))
        for id in singles { try await store.write { try $0.deleteTask(id) } }
        try await store.write { tx in try tx.deleteDependents(of: Array(many)) }
        for table in TaskDependents.tables {
            #expect(try directory.value("SELECT count(*) FROM \(table)") == "0", "\(table)")
        }
        for id in many { try await store.write { try $0.deleteTask(id) } }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// What schema 6 brought.
    private static func expectAbandonedUpload(_ reader: StoreReader) throws {
        let due = noon.advanced(by: .seconds(60))
        #expect(try reader.dueAbandonedUploads(now: noon, limit: 9).isEmpty)
        #expect(try reader.nextAbandonedUpload(after: noon) == due)
        let upload = try #require(try reader.dueAbandonedUploads(now: due, limit: 9).first)
        #expect(upload.taskID == TaskID(9) && upload.url.string == "https://up.example/uploads/7")
        #expect(upload.specification.upload.uploadProtocol == .tus && upload.specification.profile == "api")
        #expect(upload.specification.policy == "bank" && upload.abandonedAt == noon && upload.attempts == 2)
    }

    /// What schema 3 brought.
    private static func expectRequestsAndUploads(_ reader: StoreReader) throws {
        let data = try #require(try reader.task(TaskID(5)))
        #expect(data.specification.kind == .data && data.specification.request.method == .post)
        #expect(data.specification.request.acceptedTypes == ["application/json"])
        #expect(data.specification.response == ResponseHandling(parsers: [.json], stripsNulls: true))
        #expect(data.specification.profile == "work" && data.sent == 7)
        let words = RequestBody.inline(InlineBytes(Array("{\"a\":1}".utf8)))
        #expect(try reader.body(of: TaskID(5)) == words)
        #expect(try reader.earlierAdd(of: data.specification, body: words)?.askedForTheSame == true)
        #expect(
            try reader.result(of: TaskID(5))
                == StoredResult(content: .inline(Array("{\"b\":2}\0".utf8)), length: 8, object: "{\"b\":2}"))
        #expect(try reader.result(of: TaskID(6)) == StoredResult(content: .file("feed"), length: 1 << 24))

        let upload = try #require(try reader.task(TaskID(7)))
        #expect(upload.state == .running && upload.sent == 40_000 && upload.transferID == TransferID(2))
        #expect(upload.specification.upload.uploadProtocol == .tus && upload.specification.maxSendRate == 65_536)
        let source = SourceFile(
            path: "/srv/photo.jpeg", identity: FileIdentity(device: 1, inode: 77), length: 100_000,
            modifiedAt: 1_700_000_000_123_456_789)
        #expect(try reader.body(of: TaskID(7)) == .file(source))
        let place = try #require(try reader.upload(of: TransferID(2)))
        #expect(place.url.string == "https://up.example:8443/u/1?x=y")
        #expect(place.offset == 40_000 && place.expiresAt == noon && place.largestAppend == 1_000_000)
        guard case .parts(let parts)? = try reader.body(of: TaskID(8)) else {
            Issue.record("no parts")
            return
        }
        #expect(parts.map(\.filename) == ["ä\".jpeg", nil] && parts.map(\.name) == ["f", "n"])

        #expect(try reader.profiles().map(\.profile.name).sorted() == ["file", "work"])
        let work = try #require(try reader.profiles().first { $0.profile.name == "work" })
        #expect(work.profile.headers == [HeaderField(name: "X-Key", value: "secret")] && !work.isConfigured)
        #expect(work.profile.baseURL?.string == "https://api.example/v1/" && work.profile.keepsCookies == true)
        #expect(try reader.cookies(ofProfile: "work").map(\.name) == ["sid"])
    }

    /// What schema 4 brought.
    private static func expectSources(_ reader: StoreReader) throws {
        let sources = try #require(try reader.transfer(TransferID(1))?.sources)
        #expect(sources.map(\.origin.host) == ["example.com", "a.example"])
        #expect(sources.map(\.chain) == [[[1, 2, 3], [255]], []])
        #expect(sources.map(\.tls) == [.tls13, nil] && sources.map(\.judgement) == ["3+5x", "0"])
    }

    @Test func everyOldSchemaHasATestDatabase() throws {
        #expect(SchemaFixture.newest == Migration.all.count)
        for version in 1...SchemaFixture.newest {
            #expect(try SchemaFixture.sql(version).contains("PRAGMA user_version = \(version);"))
        }
    }

    /// A migration that was edited after it landed shows here.
    @Test(arguments: 1...SchemaFixture.newest)
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
