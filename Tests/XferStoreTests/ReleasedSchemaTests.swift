import GRDB
import Testing
import XferModel

@testable import XferStore

/// A database of 1.0.0-rc.1, the first release, is opened with all that is in it.
struct ReleasedSchemaTests {
    /// Opens the database, lets `examine` read it, and checks all of it.
    private func read(_ examine: @escaping @Sendable (StoreReader) throws -> Void) async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(Migration.first))
        let store = try directory.open()
        try await store.read { try examine($0) }
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func tasksAndEventsOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            let task = try #require(try reader.tasks.find(TaskID(1)))
            #expect(task.specification.request.url.string == "https://example.com/file?a=b")
            #expect(task.specification.request.headers == [HeaderField(name: "X-A", value: "b")])
            #expect(task.specification.clientKey == "key")
            #expect(task.specification.mirrors == [])
            #expect(task.state == .running)
            #expect(task.transferID == TransferID(1))
            #expect(task.furthest == 4096)
            #expect(task.specification.destination.directoryIdentity == FileIdentity(device: 1, inode: 2))
            #expect(try reader.nextHosts(priority: .high, limit: 9) == ["b.example:8080"])
            #expect(try reader.counts.byState() == [.running: 2, .queued: 3, .failed: 1, .completed: 3, .paused: 2])
            #expect(try reader.tasks.find(TaskID(3))?.error?.reason == .httpStatus)
            #expect(try reader.events.list(since: 0, limit: 9).map(\.type) == [.taskAdded, .taskStarted, .taskFailed])
            #expect(try reader.settings.find("queue.paused") == "true")
            #expect(try reader.reservations.holder(ofName: "file", in: FileIdentity(device: 1, inode: 2)) == TaskID(1))
            #expect(try reader.crashes.count(of: TaskID(2)) == 1 && reader.crashes.count(of: TaskID(1)) == 0)
            #expect(
                try reader.tasks.find(TaskID(2))?.specification.mirrors.map(\.string)
                    == ["https://c.example/f?x=y", "http://d.example/"])
        }
    }

    @Test func sequencesOfTheFirstReleaseAreContinued() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(Migration.first))
        let store = try directory.open()
        #expect(try await store.write { try $0.add(1) } == [TaskID(13)])
        #expect(try await store.write { try $0.events.append(.taskResumed, at: noon).seq } == 4)
        #expect(try await store.write { try $0.policies.set(.fixture("other"), isConfigured: false).version } == 5)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    @Test func policiesOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            #expect(try reader.tasks.find(TaskID(1))?.specification.policy == "bank")
            #expect(try reader.tasks.find(TaskID(2))?.specification.policy == nil)
            #expect(try reader.policies.unfinishedTasks(namingPolicy: "bank", limit: 9) == [TaskID(1)])
            let stored = try reader.policies.all()
            #expect(stored.map(\.policy.name) == ["bank", "file"])
            #expect(stored.map(\.policy.version) == [3, 2])
            #expect(stored.map(\.isConfigured) == [false, true])
            #expect(stored.map(\.warned) == [30, nil])
            #expect(stored.first?.policy.pins.count == 1 && stored.first?.policy.mode == .publicKey)
        }
    }

    @Test func requestsAndUploadsOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            let data = try #require(try reader.tasks.find(TaskID(5)))
            #expect(data.specification.kind == .data && data.specification.request.method == .post)
            #expect(data.specification.request.acceptedTypes == ["application/json"])
            #expect(data.specification.response == ResponseHandling(parsers: [.json], stripsNulls: true))
            #expect(data.specification.profile == "work" && data.sent == 7)
            let words = RequestBody.inline(InlineBytes(Array("{\"a\":1}".utf8)))
            #expect(try reader.bodies.find(of: TaskID(5)) == words)
            #expect(try reader.tasks.earlierAdd(of: data.specification, body: words)?.isSameRequest == true)
            #expect(
                try reader.results.find(of: TaskID(5))
                    == StoredResult(content: .inline(Array("{\"b\":2}\0".utf8)), length: 8, object: "{\"b\":2}"))
            #expect(try reader.results.find(of: TaskID(6)) == StoredResult(content: .file("feed"), length: 1 << 24))

            let upload = try #require(try reader.tasks.find(TaskID(7)))
            #expect(upload.state == .running && upload.sent == 40_000 && upload.transferID == TransferID(2))
            #expect(upload.specification.upload.uploadProtocol == .tus && upload.specification.maxSendRate == 65_536)
            let source = SourceFile(
                path: "/srv/photo.jpeg", identity: FileIdentity(device: 1, inode: 77), length: 100_000,
                modifiedAt: 1_700_000_000_123_456_789)
            #expect(try reader.bodies.find(of: TaskID(7)) == .file(source))
            let place = try #require(try reader.transfers.upload(of: TransferID(2)))
            #expect(place.url.string == "https://up.example:8443/u/1?x=y")
            #expect(place.offset == 40_000 && place.expiresAt == noon && place.largestAppend == 1_000_000)
            guard case .parts(let parts)? = try reader.bodies.find(of: TaskID(8)) else {
                Issue.record("no parts")
                return
            }
            #expect(parts.map(\.filename) == ["ä\".jpeg", nil] && parts.map(\.name) == ["f", "n"])

            #expect(try reader.profiles.all().map(\.profile.name).sorted() == ["file", "work"])
            let work = try #require(try reader.profiles.all().first { $0.profile.name == "work" })
            #expect(work.profile.headers == [HeaderField(name: "X-Key", value: "secret")] && !work.isConfigured)
            #expect(work.profile.baseURL?.string == "https://api.example/v1/" && work.profile.keepsCookies == true)
            #expect(try reader.cookies.list(ofProfile: "work").map(\.name) == ["sid"])
        }
    }

    @Test func spooledSourcesOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            #expect(try reader.results.expired(olderThan: noon, limit: 9).isEmpty)
            #expect(try reader.spool.sources(of: TaskID(7)) == [])
            #expect(try reader.spool.sources(of: TaskID(9)) == ["c0ffee"])
            #expect(try reader.spool.isWanted(spoolFile: "c0ffee"))
            guard case .file(let copy)? = try reader.bodies.find(of: TaskID(9)) else {
                Issue.record("no body")
                return
            }
            #expect(copy.spoolName == "c0ffee" && copy.path == "/srv/photo.jpeg")
            #expect(
                try reader.tasks.find(TaskID(9))?.specification.upload
                    == UploadOptions(uploadProtocol: .plain, isSpooled: true))
        }
    }

    @Test func abandonedUploadsOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            let due = noon.advanced(by: .seconds(60))
            #expect(try reader.abandonedUploads.due(now: noon, limit: 9).isEmpty)
            #expect(try reader.abandonedUploads.next(after: noon) == due)
            let upload = try #require(try reader.abandonedUploads.due(now: due, limit: 9).first)
            #expect(upload.taskID == TaskID(9) && upload.url.string == "https://up.example/uploads/7")
            #expect(upload.specification.upload.uploadProtocol == .tus && upload.specification.profile == "api")
            #expect(upload.specification.policy == "bank" && upload.abandonedAt == noon && upload.attempts == 2)
        }
    }

    @Test func failedURLsAndSlotsOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            #expect(try reader.failedURLs.digestKey().starts(with: [0x4d, 0x89, 0xe6, 0x2a]))
            let failed = try #require(try reader.failedURLs.find(key: [0, 255], within: noon...noon))
            #expect(failed.url == "https://c.example/files/file-3.bin" && failed.method == .get)
            #expect(failed.owner == Owner(uid: 1000) && failed.taskID == TaskID(3) && failed.error.httpStatus == 404)
            #expect(try reader.tasks.list(inSlot: "avatar", of: Owner(uid: 1000)).map(\.id) == [TaskID(1)])
        }
    }

    @Test func transfersOfTheFirstReleaseAreReadAndShared() async throws {
        try await read { reader throws in
            let transfer = try #require(try reader.transfers.find(TransferID(1)))
            #expect(transfer.resumeData.committedByteCount == 4096)
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
            #expect(
                transfer.sourceUse
                    == SourceUse(
                        described: 2, senders: [0, 2], unprovenFrom: 0, suspects: [0, 3], excluded: [3]))
            #expect(transfer.sources.map(\.origin.host) == ["example.com", "a.example"])
            #expect(transfer.sources.map(\.chain) == [[[1, 2, 3], [255]], []])
            #expect(transfer.sources.map(\.tls) == [.tls13, nil])
            #expect(transfer.sources.map(\.judgement) == ["3+5x", "0"])
            #expect(try reader.transfers.find(TransferID(2))?.resumeData.part == nil)
            #expect(try reader.transfers.find(TransferID(2))?.sourceUse == SourceUse())
            #expect(try reader.transfers.byteVersion(of: TransferID(2)) == "1.3")
            #expect(try reader.transfers.byteVersion(of: TransferID(1)) == "1.0")

            #expect(try reader.tasks.find(TaskID(1))?.coalesceKey == [0xc0, 0xff, 0xee, 1])
            #expect(try reader.tasks.find(TaskID(3))?.coalesceKey == nil)
            #expect(try reader.tasks.queued(coalescing: [0xc0, 0xff, 0xee, 1], limit: 9).map(\.id) == [TaskID(2)])
            #expect(try reader.transfers.list(keptUnder: [0xc0, 0xff, 0xee, 1], limit: 9).map(\.id) == [TransferID(1)])
            #expect(
                try reader.transfers.isUsed(TransferID(1)) && !reader.transfers.isUsed(TransferID(1), but: TaskID(1)))
        }
    }

    @Test func cachedResponsesOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            let entry = try #require(try reader.cache.entries(key: [0xc0, 0xff, 0xee, 2]).first)
            #expect(entry.id == CacheEntryID(1) && entry.owner == Owner(uid: 1000) && entry.blob == "blob-1")
            #expect(entry.response.url.string == "https://example.com/list?token=x" && entry.response.isRedirected)
            #expect(entry.response.variant == [HeaderField(name: "accept", value: "0102")])
            #expect(entry.response.sources.map(\.chain) == [[[1, 2], [3]]])
            #expect(try reader.cache.totals() == CacheTotals(count: 1, byteCount: 4096))
        }
    }

    @Test func stagedAndPublishedFilesOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            let ready = try #require(try reader.readyFiles.find(of: TaskID(1)))
            #expect(ready.name == ".xfer-5eed5eed-1-c0ffee.hook" && ready.finalName == "file" && ready.isProcessed)
            #expect(ready.facts?.identity == FileIdentity(device: 1, inode: 77) && ready.facts?.length == 9)
            #expect(ready.facts?.modifiedAt == 1_700_000_000_123_456_789 && ready.digest?.algorithm == .sha256)
            #expect(ready.facts?.mark.generation == 9)
            let published = try #require(try reader.publishedFiles.find(of: TaskID(3)))
            #expect(published.mark.identity == FileIdentity(device: 1, inode: 78))
            #expect(published.length == 9 && published.version == "1.0")
            #expect(published.modifiedAt == 1_700_000_000_000_000_007)
            let hook = try #require(try reader.hooks.pending(limit: 9).first)
            #expect(hook.id == 5 && hook.taskID == TaskID(3) && hook.occasion == .onError && hook.hook == "tell")
            #expect(hook.description == "{\"id\":3}" && hook.path == nil)
        }
    }

    @Test func schedulesOfTheFirstReleaseAreRead() async throws {
        try await read { reader throws in
            let schedule = try #require(try reader.tasks.find(TaskID(2))?.specification.schedule)
            let night = try #require(DailyTimes("22:00-06:00"))
            #expect(
                schedule
                    == TaskSchedule(
                        notBefore: noon,
                        window: TimeWindow(times: [night], days: [.saturday, .sunday], zone: "Europe/Berlin"),
                        deadline: noon.advanced(by: .seconds(86_400)), after: [TaskID(3), TaskID(77)]))
            #expect(try reader.conditions.earliest() == noon.advanced(by: .seconds(60)))
            #expect(try reader.dependencies.state(of: TaskID(2)) == DependencyState(openCount: 1))
            #expect(try reader.dependencies.nextEndedTarget() == EndedTarget(id: TaskID(3), outcome: .failed))
            #expect(try reader.dependencies.openDependents(of: TaskID(3), limit: 9) == [TaskID(2)])
        }
    }

    @Test func groupsAndBatchesOfTheFirstReleaseAreRead() async throws {
        let owner = Owner(uid: 1000)
        try await read { reader throws in
            #expect(
                try reader.groups.list(limit: 9) == [
                    TaskGroup(
                        key: GroupKey(owner: owner, name: "batch-1"), limits: GroupLimits(maxActive: 3),
                        batch: BatchID(1),
                        counts: [.paused: 1, .completed: 1, .queued: 1]),
                    TaskGroup(
                        key: GroupKey(owner: owner, name: "group"),
                        limits: GroupLimits(maxActive: 2, maxReceiveRate: 1 << 20), isPaused: true,
                        counts: [.running: 1]),
                ])
            let batch = try #require(try reader.batches.find(BatchID(1)))
            #expect(batch.total == 4 && batch.finished == 2 && batch.skipped == 1 && batch.completedAt == nil)
            #expect(try reader.batches.members(of: BatchID(1), limit: 9) == [TaskID(10), TaskID(11), TaskID(12)])
            #expect(try reader.tasks.find(TaskID(11))?.batchID == BatchID(1))
            let lane = try #require(try reader.queue.nextLane(priority: .low))
            #expect(lane.profile == "work" && lane.host == "images.example" && lane.group?.name == "batch-1")
            #expect(try reader.queue.heads(of: lane, order: .fifo, limit: 9) == [TaskID(12)])
            #expect(try reader.queue.nextLane(priority: .low, without: LaneExclusions(profiles: ["work"])) == nil)
            let earlier = try #require(
                try reader.batches.earlier(owner: owner, clientKey: "images", requestText: "other"))
            #expect(earlier.id == BatchID(1) && !earlier.isSameRequest && earlier.refused?.isEmpty == false)
        }
    }

    @Test func deliveriesOfTheFirstReleaseAreRead() async throws {
        let due = noon.advanced(by: .seconds(60))
        try await read { reader throws in
            #expect(try reader.deliveries.webhook(after: "") == "deploy")
            #expect(try reader.deliveries.due(of: "deploy", now: noon, limit: 9).isEmpty)
            #expect(try reader.deliveries.next(of: "deploy", after: noon) == due)
            let delivery = try #require(try reader.deliveries.due(of: "deploy", now: due, limit: 9).first)
            #expect(delivery.id == 3 && delivery.webhook == "deploy" && delivery.attempts == 4)
            #expect(delivery.key == "dad9c46e3960d7572426b76f5444d436-2-deploy" && delivery.createdAt == noon)
            #expect(delivery.body == "{\"seq\":2,\"type\":\"task.failed\"}")
            let standing = try reader.deliveries.receiverState(ofWebhook: "deploy")
            #expect(standing.failures == 2 && standing.pausedUntil == noon.advanced(by: .seconds(30)))
            #expect(standing.lastFailure == "ci.example answered 503 (Service Unavailable)")
            let counts = try reader.deliveries.counts(of: "audit")
            #expect(counts.pending == 0 && counts.failed == 1)
        }
    }

    @Test func tokensOfTheFirstReleaseAreReadAndTheirIDsAreNotGivenAgain() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(Migration.first))
        let store = try directory.open()
        let stored = try #require(try await store.read { try $0.tokens.all() }.first)
        #expect(stored.token.id == 3 && stored.token.name == "phone" && stored.token.scope == .add)
        #expect(stored.token.owner == Owner(uid: 1000) && stored.token.expiresAt != nil)
        #expect(stored.digest == [UInt8](repeating: 0xAB, count: 32))
        try await store.write { try $0.tokens.remove(named: "phone") }
        let next = AccessToken(name: "phone", owner: Owner(uid: 1000), scope: .read, createdAt: noon)
        let added = try await store.write { tx in
            try tx.tokens.add(StoredToken(token: next, digest: [UInt8](repeating: 1, count: 32)))
        }
        #expect(added.token.id > 3, "the id of a revoked token is not used again")
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    /// What `.dump` of sqlite3(1) writes of a new database of that release, statement by statement.
    @Test func theFirstMigrationMakesTheSchemaOfTheFirstRelease() throws {
        let (released, made) = (try StoreDirectory(), try StoreDirectory())
        try released.execute(SchemaFixture.sql(Migration.first))
        try made.execute(Migration.firstRelease.sql)
        func schema(_ directory: StoreDirectory) throws -> [String] {
            try DatabaseQueue(path: directory.database).read {
                try String.fetchAll(
                    $0, sql: "SELECT type || name || tbl_name || ifnull(sql, '') FROM sqlite_schema ORDER BY name")
            }
        }
        #expect(try schema(made) == schema(released))
    }
}
