import GRDB
import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Rows of tasks and what they are read back as.
struct TaskTests {
    /// A task in which nothing is as usual.
    private static var unusual: TaskSpecification {
        var spec = specification("[2001:db8::1]", path: "/a%20b?x=1&token=\"s\"", owner: 4_000_000_000, priority: .high)
        spec.request = TransferRequest(
            url: HTTPURL(scheme: .http, host: "[2001:db8::1]", port: 8080, target: "/a%20b?x=1:2/3"), method: .get,
            headers: [HeaderField(name: "X-A", value: "1\t\"\\é"), HeaderField(name: "X-A", value: "")],
            credential: Credential(user: "u", password: "p"), redirect: .sameOrigin, allowsDowngrade: true,
            httpVersion: .http2, timeouts: Timeouts(connect: 1.5, idle: 2, total: 3),
            acceptedStatus: StatusSet(200...206),
            allowsMetered: false)
        spec.destination = Destination(
            directory: "/srv/ü", directoryIdentity: FileIdentity(device: .max, inode: 1), name: "name",
            onConflict: .overwrite, mode: FileMode(bits: 0o600), usesRemoteTime: true)
        spec.checksum = Checksum(algorithm: .md5, bytes: Array(1...16))
        spec.retry = RetryLimits(maxRetries: 3, retryFor: 10)
        spec.startsPaused = true
        spec.group = "g"
        spec.label = ""
        spec.clientKey = "key"
        spec.maxReceiveRate = 1
        spec.progressInterval = 2.5
        spec.resumesUnsafely = true
        spec.meta = "{\"a\":[1]}"
        return spec
    }

    /// Every field that changes while a task runs.
    private static func progressed(_ task: TransferTask, _ transfer: TransferID) -> TransferTask {
        var task = task
        task.state = .waiting
        task.wait = Wait(.retry, until: noon)
        task.error = TransferError(
            .httpStatus, "503 \"busy\"", isRetriable: true, httpStatus: 503, curlCode: 22, host: "h", retryAfter: 7)
        task.transferID = transfer
        task.attempts = 3
        task.furthest = 1 << 42
        task.lastProgressAt = noon
        task.startedAt = noon
        task.finishedAt = noon
        task.received = 1 << 40
        task.total = 1 << 41
        task.outcome.finalPath = "/srv/x (1)"
        task.outcome.finalURL = HTTPURL(scheme: .https, host: "b.example", port: 443, target: "/")
        task.outcome.httpStatus = 200
        task.outcome.etag = "W/\"a\""
        task.outcome.contentEncoding = "gzip"
        task.outcome.skipped = true
        task.outcome.notModified = true
        task.outcome.responseHeaders = [HeaderField(name: "Set-Cookie", value: "a=\"\u{1}\"")]
        return task
    }

    @Test(arguments: [false, true]) func aTaskIsReadBackAsItWasAdded(isUnusual: Bool) async throws {
        try await withStore { store in
            let spec = isUnusual ? Self.unusual : specification()
            let added = try await store.write {
                try $0.tasks.insert(spec, state: .waiting, wait: Wait(.schedule, until: noon), at: noon)
            }
            let read = try #require(try await store.read { try $0.tasks.find(added.id) })
            #expect(read == added)
            #expect(read.specification == spec)
            #expect(read.rank == added.id.rawValue << 20)
            #expect(read.wait == Wait(.schedule, until: noon))
        }
    }

    @Test func everyMutableFieldIsStored() async throws {
        try await withStore { store in
            let changed = try await store.write { transaction throws in
                let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: .max, inode: 1))
                let transfer = try transaction.transfers.insert(partial: partial, at: noon)
                let added = try transaction.tasks.insert(specification(), state: .queued, at: noon)
                var changed = Self.progressed(added, transfer.id)
                // Owner and client key stay as they were added.
                changed.specification = Self.unusual
                changed.specification.owner = added.owner
                changed.specification.clientKey = nil
                try transaction.tasks.update(changed)
                return changed
            }
            #expect(try await store.read { try $0.tasks.find(changed.id) } == changed)
            let plain = try await store.write { transaction throws in
                var plain = changed
                plain.specification = specification()
                plain.state = .queued
                plain.wait = nil
                plain.error = nil
                plain.transferID = nil
                plain.outcome = TaskOutcome()
                plain.total = nil
                plain.startedAt = nil
                plain.finishedAt = nil
                try transaction.tasks.update(plain)
                return plain
            }
            #expect(try await store.read { try $0.tasks.find(changed.id) } == plain)
        }
    }

    /// The bounds of a single range are two members of the row's JSON, which a decoder reads in any order.
    @Test(arguments: [
        [100...150], [404...404], [200...250], [500...599], [200...299, 404...404], [100...100, 599...599],
    ])
    func acceptedStatusesAreReadBack(ranges: [ClosedRange<Int>]) throws {
        var spec = specification()
        spec.request.acceptedStatus = try #require(StatusSet(ranges))
        let text = try #require(try TaskOptions.text(of: spec))
        #expect(TaskOptions.apply(text, to: specification()) == spec)
        let members = [
            "\"firstAcceptedStatus\":\(ranges[0].lowerBound)", "\"lastAcceptedStatus\":\(ranges[0].upperBound)",
        ]
        guard ranges.count == 1 else { return }
        for order in [members, members.reversed()] {
            #expect(TaskOptions.apply("{\(order.joined(separator: ","))}", to: specification()) == spec)
        }
    }

    /// As profiles had it when there was one range.
    @Test func aSingleRangeIsStoredAsItsBounds() throws {
        #expect(try JSONText.encode(StatusSet(200...206)) == "[200,206]")
        #expect(JSONText.decode(StatusSet.self, from: "[200,206]") == StatusSet(200...206))
        #expect(JSONText.decode(StatusSet.self, from: "[200,206,404,404]") == StatusSet("200-206,404"))
        for text in ["[]", "[200]", "[206,200]"] { #expect(JSONText.decode(StatusSet.self, from: text) == nil) }
    }

    @Test func theRankOfAStaleCopyIsNotWritten() async throws {
        try await withStore { store in
            let (stale, rank) = try await store.write { transaction throws in
                let ids = try transaction.add(2)
                let stale = try transaction.tasks.find(ids[1])
                return (stale, try transaction.queue.move(ids[1], to: .top, order: .fifo))
            }
            try await store.write { try $0.tasks.update(#require(stale)) }
            #expect(try await store.read { try $0.tasks.find(#require(stale).id)?.rank } == rank)
        }
    }

    @Test func noTaskIDIsGivenTwice() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        let first = try await store.write { try $0.add(3) }
        try await store.write { try $0.tasks.delete(first[2]) }
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await store.write { transaction throws in
                try transaction.add(5)
                throw Refused()
            }
        }
        try store.close()
        store = try directory.open()
        let next = try await store.write { try $0.add(1)[0] }
        #expect(next > first[2])
        #expect(try await store.read { try $0.tasks.lastID() } == next)
        try store.close()
    }

    @Test func changingARemovedTaskIsRefused() async throws {
        try await withStore { store in
            let task = try await store.write { transaction throws in
                let task = try transaction.tasks.insert(specification(), state: .queued, at: noon)
                try transaction.tasks.delete(task.id)
                return task
            }
            await #expect(throws: StoreError.noSuchTask(task.id)) {
                try await store.write { try $0.tasks.update(task) }
            }
            await #expect(throws: StoreError.noSuchTask(task.id)) {
                try await store.write { try $0.tasks.delete(task.id) }
            }
            #expect(try await store.read { try $0.tasks.find(task.id) } == nil)
            #expect(try await store.read { try $0.counts.byState() } == [:])
        }
    }

    @Test func aRepeatedAddIsFoundByItsKeyAndDistinguishedFromAnotherRequest() async throws {
        try await withStore { store in
            let spec = specification(clientKey: "k")
            let id = try await store.write { transaction throws in
                let id = try transaction.tasks.insert(spec, state: .queued, at: noon).id
                var changed = try #require(try transaction.tasks.find(id))
                changed.specification.priority = .low
                try transaction.tasks.update(changed)
                return id
            }
            let other = specification(path: "/other", clientKey: "k")
            let stranger = specification(owner: 7, clientKey: "k")
            try await store.read { reader throws in
                #expect(try reader.tasks.id(owner: spec.owner, clientKey: "k") == id)
                #expect(try reader.tasks.earlierAdd(of: spec) == EarlierAdd(id: id, isSameRequest: true))
                #expect(try reader.tasks.earlierAdd(of: other) == EarlierAdd(id: id, isSameRequest: false))
                #expect(try reader.tasks.earlierAdd(of: stranger) == nil)
                #expect(try reader.tasks.earlierAdd(of: specification()) == nil)
            }
            await #expect(throws: StoreError.self) {
                try await store.write { try $0.tasks.insert(spec, state: .queued, at: noon) }
            }
            try await store.write { transaction throws in
                _ = try transaction.tasks.insert(stranger, state: .queued, at: noon)
                try transaction.tasks.delete(id)
                _ = try transaction.tasks.insert(spec, state: .queued, at: noon)
            }
        }
    }

    @Test func everyDifferenceBetweenTwoRequestsIsNoticed() throws {
        let base = specification(clientKey: "k")
        var variants = [base, Self.unusual]
        func vary(_ change: (inout TaskSpecification) -> Void) {
            var variant = base
            change(&variant)
            variants.append(variant)
        }
        vary { $0.priority = .high }
        vary { $0.group = "" }
        vary { $0.label = "" }
        vary { $0.group = "a" }
        vary { $0.label = "a" }
        vary { $0.meta = "a" }
        vary { $0.destination.directory += "/a" }
        vary { $0.destination.name = "a" }
        vary { $0.destination.onConflict = .fail }
        vary { $0.checksum = Checksum(algorithm: .md5, bytes: Array(1...16)) }
        vary { $0.startsPaused = true }
        vary { $0.request.headers = [HeaderField(name: "A", value: "b")] }
        vary { $0.request.credential = Credential(user: "a", password: "b") }
        vary { $0.retry.maxRetries = 1 }
        let prints = try variants.map { try SpecificationColumns($0).fingerprint(of: $0, nil) }
        #expect(Set(prints).count == variants.count)
        // Kept in databases: it stays what it was.
        #expect(prints[0] == 3_483_745_738_620_626_060)
    }

    @Test func tasksOfAStateAndOfATransferAreListedInPages() async throws {
        try await withStore { store in
            let ids = try await store.write { transaction throws in
                let ids = try transaction.add(6)
                let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 2))
                let transfer = try transaction.transfers.insert(partial: partial, at: noon).id
                for id in ids.suffix(3) {
                    var task = try #require(try transaction.tasks.find(id))
                    task.state = .running
                    task.transferID = transfer
                    try transaction.tasks.update(task)
                }
                return ids
            }
            try await store.read { reader throws in
                #expect(try reader.tasks.list(inState: .queued, limit: 2).map(\.id) == Array(ids[0...1]))
                #expect(try reader.tasks.list(inState: .queued, after: ids[1], limit: 2).map(\.id) == [ids[2]])
                #expect(try reader.tasks.list(inState: .paused, limit: 2).isEmpty)
                #expect(try reader.tasks.list(subscribingTo: TransferID(1)).map(\.id) == Array(ids[3...5]))
            }
        }
    }

    @Test func theTaskThatLastCompletedAPathIsFound() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (id, state) in zip(
                    try transaction.add(4), [.completed, .completed, .failed, .completed] as [TaskState])
                {
                    var task = try #require(try transaction.tasks.find(id))
                    task.state = state
                    task.outcome.finalPath = id == TaskID(4) ? "/srv/b" : "/srv/a"
                    try transaction.tasks.update(task)
                }
                #expect(try transaction.tasks.lastCompleted(path: "/srv/a")?.id == TaskID(2))
                #expect(try transaction.tasks.lastCompleted(path: "/srv/c") == nil)
            }
        }
    }

    @Test func anUnreadableColumnIsNamed() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let id = try await store.write { try $0.add(1)[0] }
        try await store.write { try $0.connection.run("UPDATE task SET options = '{' WHERE id = 1") }
        await #expect(throws: StoreError.unreadable(table: "task", id: 1, column: "options")) {
            try await store.read { try $0.tasks.find(id) }
        }
        try store.close()
    }

    @Test func columnsAreReadByTheirPlaceInTheTable() async throws {
        try await withStore { store in
            let names = try await store.read {
                try String.fetchAll($0.connection.database, sql: "SELECT name FROM pragma_table_xinfo('task')")
            }
            #expect(names == TaskColumn.allCases.map { "\($0)" })
        }
    }

    @Test(arguments: [
        HTTPURL(scheme: .http, host: "a", port: 80, target: "/"),
        HTTPURL(scheme: .http, host: "a", port: 443, target: "/x"),
        HTTPURL(scheme: .https, host: "[::1]", port: 443, target: "/?a=b://c/"),
        HTTPURL(scheme: .https, host: "[::1]", port: 1, target: "/:2"),
    ])
    func aStoredURLParsesToItself(url: HTTPURL) {
        #expect(HTTPURL(stored: url.string) == url)
    }

    @Test(arguments: ["", "a", "ftp://a/", "http://a", "http://a:b/", "http://a:65536/"])
    func textsThatAreNoStoredURLsAreRefused(text: String) {
        #expect(HTTPURL(stored: text) == nil)
    }

    @Test(arguments: [
        [HeaderField(name: "ETag", value: "\"x\"")], [HeaderField(name: "", value: "")],
        [HeaderField(name: "A", value: "b,c]["), HeaderField(name: "A", value: "é 日本 \u{1F600}")],
        [HeaderField(name: "A", value: "tab\tand\\"), HeaderField(name: "B", value: "plain")],
        [HeaderField(name: "A\\\"", value: "\\\\\"\\"), HeaderField(name: "B", value: "\"é\"")],
    ])
    func storedHeaderFieldsParseToThemselves(fields: [HeaderField]) throws {
        let text = try #require(JSONText.encode(headers: fields))
        #expect(JSONText.decodeHeaders(text) == fields)
        #expect(JSONText.decode([[String]].self, from: text) == fields.map { [$0.name, $0.value] })
    }

    @Test(arguments: [
        "", "[", "[]x", #"[["a"]]"#, #"[["a","b"]"#, #"[["a","b"]]]"#, #"x["a","b"]]"#, #"[["a","b\"]]"#, #"[["a","b\"#,
    ])
    func textsThatAreNoHeaderFieldsAreRefused(text: String) {
        #expect(JSONText.decodeHeaders(text) == nil)
    }

    @Test func progressAndStandingAreWrittenSeparately() async throws {
        try await withStore { store in
            let id = try await store.write { tx in
                try tx.tasks.insert(specification("a"), state: .queued, at: noon).id
            }
            func change(_ body: @escaping @Sendable (inout TransferTask) -> Void) async throws {
                let written = try await store.write { tx in
                    var task = try #require(try tx.tasks.find(id))
                    body(&task)
                    try tx.tasks.update(task)
                    return task
                }
                #expect(try await store.read { try $0.tasks.find(id) } == written)
            }
            try await change { ($0.state, $0.startedAt) = (.running, noon) }
            try await change { ($0.received, $0.total, $0.furthest, $0.lastProgressAt) = (5, 10, 5, noon) }
            try await change {
                ($0.outcome.httpStatus, $0.outcome.etag) = (200, "x")
                $0.outcome.responseHeaders = [HeaderField(name: "A", value: "b")]
            }
            try await change { $0.outcome.finalPath = "/x" }
            try await change { $0.wait = Wait(.retry, until: noon) }
            try await change { ($0.state, $0.wait, $0.finishedAt) = (.completed, nil, noon) }
        }
    }
}
