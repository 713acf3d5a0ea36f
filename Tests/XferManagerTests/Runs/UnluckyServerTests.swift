import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Servers that are honest but unlucky: portals that come and go, nodes that differ, stale caches. Kept bytes stay, and
/// the file is right in the end.
@Suite struct UnluckyServerTests {
    private static let version = SourceVersion(
        seed: 160, length: 300_000, etag: "\"a\"",
        headers: [HeaderField(name: "Content-Type", value: "application/octet-stream")])
    private static let cut: Int64 = 100_000

    private static let page = Reply(
        200, headers: [HeaderField(name: "Content-Type", value: "text/html")], text: "<title>Please sign in</title>")

    /// A manager that tries again at once.
    private struct World {
        let fixture: ManagerFixture
        let manager: TransferManager

        init(base: Duration = .milliseconds(1)) async throws {
            fixture = try await ManagerFixture()
            manager = try await fixture.open(change: {
                $0.retry = RetryPolicy(base: base, cap: base)
                $0.smallestSegment = 16 << 10
            })
            try await manager.start()
        }

        var requests: [RecordedRequest] { fixture.server.requests(to: "/f") }
        var ranges: [String?] { requests.map { $0.header("Range") } }

        func add(
            _ name: String = "f", _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
        ) async throws -> TaskID { try await fixture.add("/f", as: name, to: manager, change) }

        /// Answers each request by its number, 0 upward.
        func answer(_ reply: @escaping @Sendable (Int, RecordedRequest) async -> Reply) {
            let count = NIOLockedValueBox(0)
            fixture.server.on("/f") { request in
                let number = count.withLockedValue { count in
                    defer { count += 1 }
                    return count
                }
                return await reply(number, request)
            }
        }

        func completes(_ id: TaskID, as version: SourceVersion, _ name: String = "f") async throws {
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed, "\(String(describing: task.error))")
            #expect(try version.equals(file: "\(fixture.downloads)/\(name)"))
        }

        func events(of id: TaskID) async throws -> [EventType] { try await fixture.events(of: id, in: manager) }

        func end() async { await manager.shutdown(.suspend) }
    }

    private static func broken(_ version: SourceVersion, _ request: RecordedRequest) -> Reply {
        var reply = version.honestReply(to: request)
        Fault.drop(after: cut).apply(to: &reply, request, version)
        return reply
    }

    // MARK: Portals

    @Test func aSignInPageInPlaceOfTheRestWaitsAndLosesNoByte() async throws {
        let world = try await World()
        world.answer { number, request in
            switch number {
            case 0: Self.broken(Self.version, request)
            case 1...6: Self.page
            default: Self.version.honestReply(to: request)
            }
        }
        let id = try await world.add()
        try await world.completes(id, as: Self.version)
        #expect(world.ranges == [nil] + Array(repeating: "bytes=100000-", count: 7))
        let waits = try await world.manager.store.read {
            try $0.events.list(since: 0, types: [.taskWaiting], limit: 100)
        }
        #expect(waits.count == 7)
        for event in waits.dropFirst() {
            guard case .taskWaiting(_, let error) = event.payload else { continue }
            #expect(error?.reason == .unexpectedAnswer)
            #expect(error?.message.hasSuffix("answered with a web page instead of the file") == true)
        }
        #expect(try await !world.events(of: id).contains { $0 == .taskSourceChanged || $0 == .taskBytesDiscarded })
        await world.end()
    }

    @Test func aTaskThatOnlyGetsPagesFailsInTheEndAndKeepsItsBytes() async throws {
        let world = try await World()
        world.answer { number, request in number == 0 ? Self.broken(Self.version, request) : Self.page }
        let id = try await world.add { $0.retry.maxRetries = 3 }
        let failed = try await world.fixture.end(of: id, in: world.manager)
        #expect(failed.state == .failed && failed.error?.reason == .unexpectedAnswer && failed.received == Self.cut)
        world.fixture.server.serve("/f", Self.version)
        #expect(try await world.manager.tasks.apply(.retry, to: [id], for: ManagerFixture.caller).changed == [id])
        try await world.completes(id, as: Self.version)
        #expect(world.ranges.last == "bytes=100000-")
        await world.end()
    }

    /// A range that cannot be used is no reason to discard bytes: the whole may not come either.
    @Test(arguments: [416, 206]) func bytesStayUntilTheWholeBeginsToArrive(status: Int) async throws {
        let world = try await World()
        let gate = Gate()
        world.answer { number, request in
            switch number {
            case 0: return Self.broken(Self.version, request)
            case 1:
                let name = status == 416 ? "bytes */50" : "bytes 3-9/10"
                return Reply(status, headers: [HeaderField(name: "Content-Range", value: name)], text: "")
            case 2:
                await gate.wait()
                return Self.page
            default: return Self.version.honestReply(to: request)
            }
        }
        let id = try await world.add()
        await gate.arrived()
        #expect(try await world.manager.queries.task(id, for: ManagerFixture.caller).received == Self.cut)
        gate.open()
        try await world.completes(id, as: Self.version)
        #expect(world.ranges == [nil, "bytes=100000-", nil, "bytes=100000-"])
        await world.end()
    }

    /// A chunked body that always breaks off behind its last byte: a demanded digest or the last byte's tag shows that
    /// it is whole.
    @Test(arguments: [(true, false), (false, true), (false, false)])
    func aBodyThatIsThereWholeIsNotFetchedAgain(isDigestDemanded: Bool, sendsLastByte: Bool) async throws {
        let world = try await World()
        world.answer { number, request in
            if let range = request.header("Range"), !sendsLastByte || range != "bytes=299999-" {
                return Reply(416, headers: [HeaderField(name: "Content-Range", value: "bytes */300000")], text: "")
            }
            var reply = Self.version.honestReply(to: request)
            for fault in [Fault.chunked, .drop(after: Self.version.length, by: .close)] {
                fault.apply(to: &reply, request, Self.version)
            }
            return reply
        }
        let checksum = isDigestDemanded ? Self.version.checksum() : nil
        let id = try await world.add { $0.checksum = checksum }
        if isDigestDemanded {
            try await world.completes(id, as: Self.version)
            #expect(world.ranges == [nil, "bytes=300000-"])
        } else if sendsLastByte {
            try await world.completes(id, as: Self.version)
            #expect(world.ranges == [nil, "bytes=300000-", "bytes=299999-"])
        } else {
            let task = try await world.fixture.end(of: id, in: world.manager)
            #expect(task.state == .failed && task.error?.httpStatus == 416 && task.received == Self.version.length)
            #expect(world.ranges.filter { $0 == nil }.count == 1)
        }
        #expect(try await !world.events(of: id).contains { $0 == .taskSourceChanged || $0 == .taskBytesDiscarded })
        await world.end()
    }

    /// The count outlives the tries, and whatever else they commit.
    @Test(arguments: ["/f", "/redirected"])
    func aShorterVersionReplacesTheBytesOnceItHasComeThreeTimes(path: String) async throws {
        let world = try await World()
        world.fixture.server.on("/redirected") { _ in
            Reply(302, headers: [HeaderField(name: "Location", value: "/f")], text: "")
        }
        let short = SourceVersion(seed: 161, length: 50_000, etag: "\"b\"")
        world.answer { number, request in
            number == 0 ? Self.broken(Self.version, request) : short.honestReply(to: request)
        }
        let id = try await world.fixture.add(path, as: "f", to: world.manager)
        try await world.completes(id, as: short)
        #expect(try await world.events(of: id).filter { $0 == .taskSourceChanged }.count == 1)
        #expect(world.ranges == [nil] + Array(repeating: "bytes=100000-", count: SuspectRules.sightings))
        await world.end()
    }

    /// In the answer to a range, and to the request for the whole that follows a refused range.
    @Test(arguments: [true, false])
    func aVersionOfUnknownLengthReplacesTheBytesOnceItHasComeThreeTimes(refusesRanges: Bool) async throws {
        let world = try await World()
        let other = SourceVersion(seed: 164, length: 350_000, etag: "\"b\"")
        world.answer { number, request in
            if number == 0 { return Self.broken(Self.version, request) }
            if refusesRanges, request.header("Range") != nil { return Reply(416, text: "") }
            var reply = other.honestReply(to: request)
            Fault.chunked.apply(to: &reply, request, other)
            return reply
        }
        let id = try await world.add()
        try await world.completes(id, as: other)
        let round: [String?] = refusesRanges ? ["bytes=100000-", nil] : ["bytes=100000-"]
        #expect(world.ranges == [nil] + Array(repeating: round, count: SuspectRules.sightings).joined())
        let given = try await world.events(of: id).filter { $0 == .taskSourceChanged || $0 == .taskBytesDiscarded }
        #expect(given.count == 1)
        await world.end()
    }

    /// What the former URL's server answered says nothing about the new one.
    @Test func aNewURLBeginsTheCountOfDoubtedAnswersAgain() async throws {
        let world = try await World()
        let gate = Gate()
        let short = SourceVersion(seed: 165, length: 50_000, etag: "\"b\"")
        world.answer { number, request in
            if number == 0 { return Self.broken(Self.version, request) }
            if number == SuspectRules.sightings { await gate.wait() }
            return short.honestReply(to: request)
        }
        // Longer than what is compared of a URL.
        let url = world.fixture.server.url("/f?" + String(repeating: "x", count: 300))
        let id = try await world.fixture.add(url: url + "1", as: "f", to: world.manager)
        await gate.arrived()
        _ = try await world.manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
        try await eventually("it has stopped") { await world.manager.scheduler.runs[id] == nil }
        gate.open()
        _ = try await world.manager.tasks.setSource(of: id, to: url + "2", for: ManagerFixture.caller)
        _ = try await world.manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        try await world.completes(id, as: short)
        #expect(world.requests.filter { $0.target.hasSuffix("2") }.count == SuspectRules.sightings)
        await world.end()
    }

    @Test(arguments: ["a.iso", "a.html"]) func aWebPageUnderTheNameOfAFileIsAWarning(name: String) async throws {
        let world = try await World()
        world.answer { _, _ in Self.page }
        let id = try await world.add(name)
        let task = try await world.fixture.end(of: id, in: world.manager)
        #expect(task.state == .completed)
        #expect((task.warning != nil) == (name == "a.iso"))
        #expect(try await world.events(of: id).contains(.taskWarning) == (name == "a.iso"))
        await world.end()
    }

    @Test func aWebPageIsAFailureIfTheTaskRefusesIt() async throws {
        let world = try await World()
        world.answer { _, _ in Self.page }
        let id = try await world.add { $0.request.rejectsPages = true }
        let task = try await world.fixture.end(of: id, in: world.manager)
        #expect(task.state == .failed && task.error?.reason == .unacceptableType)
        try await eventually("nothing is left") { try world.fixture.files().isEmpty }
        await world.end()
    }

    // MARK: Nodes

    private static func node(_ tag: String) -> SourceVersion {
        var version = Self.version
        version.etag = tag
        return version
    }

    /// Each answer is another node's, and each connection breaks.
    @Test(arguments: [1, 3]) func nodesWithDifferentTagsCompleteUnderADemandedDigest(segments: Int) async throws {
        let world = try await World()
        world.answer { number, request in
            let node = Self.node("\"n\(number)\"")
            var reply = node.honestReply(to: request)
            Fault.drop(after: 30_000).apply(to: &reply, request, node)
            return reply
        }
        let checksum = Self.version.checksum()
        let id = try await world.add {
            $0.checksum = checksum
            $0.segments = SegmentCount(segments)
        }
        try await world.completes(id, as: Self.version)
        #expect(try await !world.events(of: id).contains { $0 == .taskSourceChanged || $0 == .taskBytesDiscarded })
        await world.end()
    }

    @Test func nodesWithDifferentTagsCompleteIfTheClientAllowsIt() async throws {
        let world = try await World()
        world.answer { number, request in
            let node = Self.node("\"n\(number)\"")
            var reply = node.honestReply(to: request)
            Fault.drop(after: 30_000).apply(to: &reply, request, node)
            return reply
        }
        let id = try await world.add { $0.resumesUnsafely = true }
        try await world.completes(id, as: Self.version)
        await world.end()
    }

    /// Bytes of two versions of equal length: the whole is fetched once, without a join.
    @Test func aMixtureOfTwoNodesIsFetchedAgainAsAWhole() async throws {
        let world = try await World()
        let old = SourceVersion(seed: 162, length: 300_000, etag: "\"old\"")
        world.answer { number, request in
            number == 0 ? Self.broken(old, request) : Self.version.honestReply(to: request)
        }
        let checksum = Self.version.checksum()
        let id = try await world.add { $0.checksum = checksum }
        try await world.completes(id, as: Self.version)
        #expect(world.ranges == [nil, "bytes=100000-", "bytes=100000-", nil])
        #expect(try await world.events(of: id).filter { $0 == .taskBytesDiscarded }.count == 1)
        await world.end()
    }

    // MARK: Caches

    /// Bytes that `resume: unsafe` may have joined reach no task that did not allow it, unless a digest has proven them.
    @Test(arguments: [true, false]) func anUnsafeJoinIsNotKeptInTheResponseCache(isVerified: Bool) async throws {
        let world = try await World()
        var version = Self.version
        version.headers.append(HeaderField(name: "Cache-Control", value: "max-age=3600"))
        let nodes = ["\"n0\"", "\"n1\""].map { tag in
            var node = version
            node.etag = tag
            return node
        }
        world.answer { number, request in
            number == 0 ? Self.broken(nodes[0], request) : nodes[1].honestReply(to: request)
        }
        let checksum = isVerified ? version.checksum() : nil
        let joined = try await world.add("joined") {
            $0.resumesUnsafely = true
            $0.checksum = checksum
            $0.request.caching = CachingOptions(policy: .reload, stores: true)
        }
        try await world.completes(joined, as: version, "joined")
        #expect(world.ranges == [nil, "bytes=100000-", "bytes=100000-"])
        let other = try await world.add("other") { $0.request.caching = CachingOptions(policy: .protocol) }
        try await world.completes(other, as: version, "other")
        #expect(world.requests.count == (isVerified ? 3 : 4))
        await world.end()
    }

    @Test func aStaleCopyOnTheWayIsPassedByOnce() async throws {
        let world = try await World()
        let stale = SourceVersion(seed: 163, length: 300_000, etag: "\"old\"")
        world.answer { _, request in
            (request.header("Cache-Control") == "no-cache" ? Self.version : stale).honestReply(to: request)
        }
        let checksum = Self.version.checksum()
        let id = try await world.add { $0.checksum = checksum }
        try await world.completes(id, as: Self.version)
        #expect(world.requests.map { $0.header("Cache-Control") } == [nil, "no-cache"])
        await world.end()
    }

    @Test func aWrongDemandedDigestFailsAfterTwoRequests() async throws {
        let world = try await World()
        world.fixture.server.serve("/f", Self.version)
        let wrong = SourceVersion.tagged(9, length: 10).checksum()
        let id = try await world.add { $0.checksum = wrong }
        let task = try await world.fixture.end(of: id, in: world.manager)
        #expect(task.state == .failed && task.error?.reason == .checksumMismatch)
        #expect(task.error?.message.hasPrefix("the task demands") == true)
        #expect(world.requests.count == 2)
        await world.end()
    }

    @Test func aWrongAnnouncedDigestIsIgnoredIfTheTaskSaysSo() async throws {
        let world = try await World()
        world.fixture.server.serve("/f", Self.version).always(.digests([.md5], truthful: false))
        let strict = try await world.add("strict")
        let task = try await world.fixture.end(of: strict, in: world.manager)
        #expect(task.state == .failed && task.error?.reason == .checksumMismatch)
        #expect(task.error?.cause == .announcedDigest)
        #expect(world.requests.count == 1)
        let lax = try await world.add("lax") { $0.request.announcedDigests = .ignore }
        try await world.completes(lax, as: Self.version, "lax")
        await world.end()
    }
}
