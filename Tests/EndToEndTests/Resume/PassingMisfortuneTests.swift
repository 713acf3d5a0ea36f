import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Honest servers with bad luck, through the real programs: what passes ends no task and costs no byte.
@Suite struct PassingMisfortuneTests {
    private static let length: Int64 = 300_000
    private static let cut: Int64 = 100_000
    private static let rest = "bytes=100000-"
    private static let half = Fault.drop(after: cut, by: .close)
    private let source = SourceVersion.tagged(60, length: length)

    /// More answers than a test gets: a resumption that comes during the next try uses one up without a wait.
    private static func untilReplaced(_ fault: Fault) -> [[Fault]] { Array(repeating: [fault], count: 1000) }

    // MARK: Breaks

    @Test func aDownloadThatBreaksNineteenTimesIsContinuedAtEachBreak() async throws {
        let server = try await FaultServer()
        let long = SourceVersion.tagged(61, length: 400_000)
        server.serve("/f", long).always(.drop(after: 20_000, by: .close))
        try await withTask(server.url("/f")) { daemon, id in
            try expectFile(try await daemon.complete(id), is: long)
            try await daemon.expectNothingDiscarded(of: id)
        }
        #expect(server.requests.map { $0.header("Range") } == [nil] + (1..<20).map { "bytes=\($0 * 20_000)-" })
    }

    @Test func nodesWithOtherTagsCompleteADownloadUnderAChecksum() async throws {
        let server = try await FaultServer()
        server.on("/f") { [source] request in
            var node = source
            node.etag = "\"node\(request.index % 3)\""
            var reply = node.honestReply(to: request)
            Fault.drop(after: 60_000, by: .close).apply(to: &reply, request, node)
            return reply
        }
        let checksum = JSONValue.string(source.checksum().description)
        try await withTask(server.url("/f"), ["checksum": checksum]) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectNothingDiscarded(of: id)
        }
    }

    // MARK: Something else in place of the file

    private static let page = Reply(
        200, headers: [HeaderField(name: "Content-Type", value: "text/html; charset=utf-8")],
        text: "<html><title>Sign in</title></html>")

    @Test func aSignInPageInPlaceOfTheRestKeepsTheBytesAndIsNamed() async throws {
        let server = try await FaultServer()
        let page = Fault.reply(Self.page)
        server.serve("/big.iso", source, faults: [[Self.half]] + Self.untilReplaced(page))
        try await withTask(server.url("/big.iso")) { daemon, id in
            let waiting = try await daemon.waits(id, after: "unexpected_answer")
            #expect(waiting.received == Self.cut)
            let shown = try await daemon.ctl("show", "\(id)")
            #expect(shown.output.contains("web page"), "\(shown)")
            server.serve("/big.iso", source)
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectNothingDiscarded(of: id)
        }
        #expect(server.requests.dropFirst().allSatisfy { $0.header("Range") == Self.rest })
    }

    @Test func aWebPageUnderTheNameOfAnImageIsWarnedOfOrRefused() async throws {
        let server = try await FaultServer()
        server.on("/tool.iso") { _ in Self.page }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/tool.iso"))
            let view = try await daemon.complete(id)
            #expect(view.json["warning"]?.stringValue != nil, "\(view.json.text)")
            #expect(try await daemon.events(of: id, types: "task.warning").count == 1)
            let ends = try await daemon.events(of: id, types: "task.completed")
            #expect(ends.map { $0["warning"] } == [view.json["warning"]])
            // Not only `list` and `show` say so, but also the command that waited for it.
            let added = try await daemon.ctl("add", "--wait", "-o", "other.iso", server.url("/tool.iso"))
            #expect(added.exit == .code(0) && added.output.contains("Warning: the server sent a web page"), "\(added)")
            let refused = try await daemon.add(server.url("/tool.iso"), ["reject_html": true, "output": "b"])
            try await daemon.fails(refused, "unacceptable_type")
            try await daemon.expectDownloads(["other.iso", "tool.iso"])
        }
    }

    /// A redirect gives the file the name of the page.
    @Test func aRedirectToASignInPageIsWarnedOfOnStandardErrorToo() async throws {
        let server = try await FaultServer()
        server.on("/big.iso") { _ in Reply(302, headers: [HeaderField(name: "Location", value: "/login")], text: "") }
        server.on("/login") { _ in Self.page }
        let text = "Warning: the server sent a web page (text/html) in place of big.iso."
        try await withDaemon { daemon in
            let added = try await daemon.ctl("add", "--wait", "-d", ".", server.url("/big.iso"))
            #expect(added.exit == .code(0) && added.output.contains(text), "\(added)")
            #expect(added.output.contains("completed: login -> "), "\(added)")
            let quiet = try await daemon.ctl("add", "--wait", "-q", "-d", ".", server.url("/big.iso"))
            #expect(quiet.exit == .code(0) && quiet.output.isEmpty && quiet.errors.contains(text), "\(quiet)")
            let piped = try await daemon.ctl("add", "--wait", "-o", "-", server.url("/big.iso"))
            #expect(piped.output.contains("Sign in") && piped.errors.contains(text), "\(piped)")
            #expect(!piped.errors.contains("commit"), "\(piped)")
        }
    }

    @Test func aWrongDigestOfTheServersCanBeIgnored() async throws {
        let server = try await FaultServer()
        server.serve("/f", source).always(.digests(truthful: false))
        try await withDaemon { daemon in
            try await daemon.fails(try await daemon.add(server.url("/f"), ["output": "a"]), "checksum_mismatch")
            let added = try await daemon.ctl(
                "add", "--wait", "--announced-digests", "ignore", "-o", "b", server.url("/f"))
            #expect(added.exit == .code(0), "\(added)")
            #expect(try source.equals(file: "\(daemon.downloads)/b"))
            try await daemon.expectDownloads(["b"])
        }
    }

    // MARK: Refusals

    @Test func aPassing403AfterHalfAFileWaitsAndResumeAsksAtOnce() async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[Self.half]] + Self.untilReplaced(.status(403)))
        try await withTask(server.url("/f")) { daemon, id in
            let waiting = try await daemon.waits(id, after: "http_status")
            #expect(waiting.received == Self.cut && waiting.waitReason == "retry", "\(waiting.json.text)")
            server.serve("/f", source)
            let resumed = try await daemon.ctl("resume", "\(id)")
            #expect(resumed.exit == .code(0), "\(resumed)")
            try await daemon.wait(id, for: "completed")
            try expectFile(try await daemon.view(id), is: source)
            try await daemon.expectNothingDiscarded(of: id)
        }
    }

    @Test func aURLThatSaysItHasExpiredAndOneThatIsGoneGoOnAtAnotherURL() async throws {
        let server = try await FaultServer()
        let expired = Fault.reply(Reply(400, text: "<Error><Code>ExpiredToken</Code></Error>"))
        server.serve("/expired", source, faults: [[Self.half]] + Self.untilReplaced(expired))
        server.serve("/gone", source, faults: [[Self.half]] + Self.untilReplaced(.status(410)))
        server.serve("/new", source)
        try await withDaemon { daemon in
            let first = try await daemon.add(server.url("/expired"), ["output": "a"])
            try await daemon.waits(first, after: "http_status", for: "source_expired")
            let second = try await daemon.add(server.url("/gone"), ["output": "b"])
            try await daemon.fails(second, "http_status")
            for id in [first, second] {
                let set = try await daemon.ctl("set-source", "\(id)", server.url("/new"))
                #expect(set.exit == .code(0), "\(set)")
                try expectFile(try await daemon.complete(id), is: source)
                try await daemon.expectNothingDiscarded(of: id)
            }
        }
        #expect(server.requests(to: "/new").map { $0.header("Range") } == [Self.rest, Self.rest])
    }

    /// Nobody resumes them: they are asked for when one of the others has ended.
    @Test func filesThatAServerRefusesBesideOthersAreAskedForAgain() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        for path in ["/0", "/1"] { server.serve(path, source).always(.stall(at: Self.cut, until: gate)) }
        for path in ["/2", "/3"] {
            server.on(path) { [source] request in gate.isOpen ? source.honestReply(to: request) : .failure(403) }
        }
        try await withDaemon(.init(settings: ["queue": ["max_active_per_host": "6"]])) { daemon in
            var ids: [Int64] = []
            for path in ["/0", "/1"] { ids.append(try await daemon.add(server.url(path))) }
            for id in ids { try await daemon.waitForBytes(Self.cut, of: id) }
            for path in ["/2", "/3"] { ids.append(try await daemon.add(server.url(path))) }
            for id in ids.suffix(2) { try await daemon.wait(id, for: "waiting") }
            gate.open()
            for id in ids { try expectFile(TaskView(json: try await daemon.wait(id, for: "completed")), is: source) }
        }
    }

    @Test func aServerThatLimitsItsClientsWithoutATimeIsAskedAgainByItself() async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.status(429)], [.status(429, retryAfter: "soon")]])
        try await withTask(server.url("/f")) { daemon, id in
            try expectFile(TaskView(json: try await daemon.wait(id, for: "completed")), is: source)
        }
        #expect(server.requests.count == 3)
    }

    @Test func aBusyURLHoldsNoOtherOfItsHost() async throws {
        let server = try await FaultServer()
        server.serve("/busy", source, faults: [[.status(503, retryAfter: "1800")]])
        server.serve("/f", source)
        try await withDaemon { daemon in
            let busy = try await daemon.add(server.url("/busy"))
            try await daemon.wait(busy, for: "waiting")
            let other = try await daemon.add(server.url("/f"))
            try expectFile(TaskView(json: try await daemon.wait(other, for: "completed")), is: source)
            let resumed = try await daemon.ctl("resume", "\(busy)")
            #expect(resumed.exit == .code(0), "\(resumed)")
            try expectFile(TaskView(json: try await daemon.wait(busy, for: "completed")), is: source)
        }
    }
}

extension DaemonFixture {
    /// Cuts short the waits of a task until it waits because of this error, and for this.
    @discardableResult
    fileprivate func waits(_ id: Int64, after error: String, for reason: String = "retry") async throws -> TaskView {
        let session = try session()
        return try await eventually("task \(id) waits after \(error)", within: Patience.long) {
            let result = try await session.call("task.get", ["id": .integer(id)])
            let view = TaskView(json: result["task"] ?? result)
            if view.isTerminal { throw TimedOut("task \(id) has ended: \(view.json.text)") }
            guard view.state == "waiting" else { return nil }
            if view.waitReason == reason, reason != "retry" || view.errorReason == error { return view }
            _ = try await session.call("task.resume", ["ids": [.integer(id)]])
            return nil
        }
    }

    fileprivate func expectNothingDiscarded(of id: Int64, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let discards = try await events(of: id, types: "task.bytes_discarded", "task.source_changed")
        #expect(discards == [], sourceLocation: sourceLocation)
    }
}
