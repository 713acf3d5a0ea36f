import NIOConcurrencyHelpers
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// Refusals that pass, that are a mirror's, or that another URL ends.
@Suite struct RefusalRunTests {
    private static let source = SourceVersion.tagged(5, length: 3 << 20)

    /// The task once it has ended, or waits for anything but a retry: retries are made at once.
    private static func outcome(of id: TaskID, in manager: TransferManager) async throws -> TransferTask {
        try await eventually("it ends") {
            let task = try await manager.queries.task(id, for: ManagerFixture.caller)
            if task.state.isTerminal || task.state == .waiting && task.wait?.reason != .retry { return task }
            if task.state == .waiting {
                _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
            }
            return nil
        }
    }

    private static func listed(_ manager: TransferManager) async throws -> [TaskID] {
        try await manager.failedURLs.list(ascending: true, limit: 9, cursor: nil, for: ManagerFixture.caller)
            .page.entries.map(\.taskID)
    }

    @Test(arguments: [401, 403, 404]) func aPassingRefusalAfterHalfAFileIsAskedAgain(status: Int) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/f", Self.source, faults: [[.drop(after: 1 << 20)], [.status(status)]])
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await Self.outcome(of: id, in: manager)
        #expect(task.state == .completed, "\(task)")
        // The bytes before the refusal are used.
        let requests = fixture.server.requests
        #expect(requests.count == 3 && requests.dropFirst().allSatisfy { $0.header("Range") != nil })
        await manager.shutdown(.suspend)
    }

    @Test func aMirrorsRefusalBehindARedirectDoesNotEndTheFile() async throws {
        let fixture = try await ManagerFixture()
        let (bad, good) = (try await FaultServer(), try await FaultServer())
        good.serve("/f", Self.source)
        bad.onAnyOther { _ in .failure(404) }
        let urls = (bad: bad.url("/f"), good: good.url("/f"))
        fixture.server.on("/f") { request in .redirect(to: request.index < 2 ? urls.bad : urls.good) }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await Self.outcome(of: id, in: manager)
        #expect(task.state == .completed, "\(task)")
        #expect(bad.requests.count == 2 && good.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    /// A busy redirector, then a bad mirror: its first refusal is no repetition of those before.
    @Test func aMirrorsRefusalAfterOtherFailuresDoesNotEndTheFile() async throws {
        let fixture = try await ManagerFixture()
        let (bad, good) = (try await FaultServer(), try await FaultServer())
        good.serve("/f", Self.source)
        bad.onAnyOther { _ in .failure(404) }
        let urls = (bad: bad.url("/f"), good: good.url("/f"))
        fixture.server.on("/f") { request in
            switch request.index {
            case 0...5: .failure(500)
            case 6: .redirect(to: urls.bad)
            default: .redirect(to: urls.good)
            }
        }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await Self.outcome(of: id, in: manager)
        #expect(task.state == .completed, "\(task)")
        #expect(bad.requests.count == 1 && good.requests.count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func aRedirectorWhoseMirrorsAllRefuseFailsTheFileAfterFourTriesAndIsNotListed() async throws {
        let fixture = try await ManagerFixture()
        let bad = try await FaultServer()
        bad.onAnyOther { _ in .failure(404) }
        let target = bad.url("/f")
        fixture.server.on("/f") { _ in .redirect(to: target) }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await Self.outcome(of: id, in: manager)
        #expect(task.state == .failed && task.error?.httpStatus == 404, "\(task)")
        #expect(bad.requests.count == 4 && fixture.server.requests.count == 4)
        #expect(try await Self.listed(manager) == [])
        await manager.shutdown(.suspend)
    }

    /// A load balancer behind one name that redirects to a path of its nodes, of which some lack the file.
    @Test(arguments: [403, 404, 410]) func aRefusalOfAnotherPathBehindARedirectDoesNotEndTheFile(
        status: Int
    ) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/good", Self.source)
        fixture.server.on("/bad") { _ in .failure(status) }
        fixture.server.on("/f") { request in .redirect(to: request.index < 4 ? "/bad" : "/good") }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await Self.outcome(of: id, in: manager)
        #expect(task.state == .completed, "\(task)")
        let paths = fixture.server.requests.map(\.path)
        #expect(paths == ["/f", "/bad", "/f", "/bad", "/f", "/good"])
        await manager.shutdown(.suspend)
    }

    /// It was the URL's own server that refused, four times.
    @Test func anotherPathThatAlwaysRefusesFailsTheFileAfterFourTriesAndListsTheURL() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/bad") { _ in .failure(404) }
        fixture.server.on("/f") { _ in .redirect(to: "/bad") }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await Self.outcome(of: id, in: manager)
        #expect(task.state == .failed && task.error?.httpStatus == 404, "\(task)")
        #expect(fixture.server.requests(to: "/bad").count == 4 && fixture.server.requests(to: "/f").count == 4)
        #expect(try await Self.listed(manager) == [id])
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [("/old", 400, "<Code>ExpiredToken</Code>"), ("/old?sig=a", 404, "no"), ("/old?sig=a", 410, "no")])
    func anExpiredURLIsRecognisedAndItsBytesAreUsedByAnother(path: String, status: Int, text: String) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve(
            "/old", Self.source, faults: [[.drop(after: 1 << 20)], [.reply(Reply(status, text: text))]])
        fixture.server.serve("/new", Self.source)
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add(path, as: "f", to: manager)
        let waiting = try await Self.outcome(of: id, in: manager)
        #expect(waiting.state == .waiting && waiting.wait?.reason == .sourceExpired, "\(waiting)")
        #expect(waiting.received > 0)
        _ = try await manager.tasks.setSource(
            of: id, to: fixture.server.url("/new"), for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(fixture.server.requests(to: "/new").map { $0.header("Range") } == ["bytes=\(waiting.received)-"])
        await manager.shutdown(.suspend)
    }

    @Test func anExpiredURLIsAskedAtOnceWhenItsTaskIsResumed() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/old", Self.source, faults: [[.drop(after: 1 << 20)], [.status(403)]])
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/old?sig=a", as: "f", to: manager)
        #expect(try await Self.outcome(of: id, in: manager).wait?.reason == .sourceExpired)
        let outcome = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        #expect(outcome.changed == [id])
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(fixture.server.requests.count == 3)
        await manager.shutdown(.suspend)
    }

    @Test func aFailedDownloadContinuesFromANewSourceWithTheBytesItHas() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/old", Self.source, faults: [[.drop(after: 1 << 20)], [.status(410)]])
        fixture.server.serve("/new", Self.source)
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/old", as: "f", to: manager) { $0.slot = "s" }
        let failed = try await Self.outcome(of: id, in: manager)
        #expect(failed.state == .failed && failed.received > 0, "\(failed)")
        // It takes its slot again, as a retried task does.
        let occupant = try await fixture.add("/new", as: "g", to: manager, startsPaused: true) { $0.slot = "s" }
        let task = try await manager.tasks.setSource(
            of: id, to: fixture.server.url("/new"), for: ManagerFixture.caller)
        #expect(task.state == .queued && task.received == failed.received)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(fixture.server.requests(to: "/new").map { $0.header("Range") } == ["bytes=\(failed.received)-"])
        #expect(try await fixture.end(of: occupant, in: manager).state == .cancelled)
        await manager.shutdown(.suspend)
    }

    /// A server that takes two connections at once.
    @Test func aRefusalBesideOtherFilesOfTheHostDoesNotFailTheFile() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        for path in ["/a", "/b"] {
            fixture.server.serve(path, .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        }
        let served = SourceVersion.tagged(2, length: 1000)
        fixture.server.on("/c") { request in gate.isOpen ? served.honestReply(to: request) : .failure(403) }
        let manager = try await fixture.open()
        try await manager.start()
        let others = [
            try await fixture.add("/a", as: "a", to: manager), try await fixture.add("/b", as: "b", to: manager),
        ]
        try await eventually("they are served") {
            let progress = await manager.queries.progress(of: others)
            return others.allSatisfy { progress[$0]?.received ?? 0 >= 100_000 }
        }
        let refused = try await fixture.add("/c", as: "c", to: manager)
        try await eventually("it waits for a retry") {
            try await manager.queries.task(refused, for: ManagerFixture.caller).wait?.reason == .retry
        }
        // No request of it is under way when the others end.
        _ = try await manager.tasks.apply(.pause, to: [refused], for: ManagerFixture.caller)
        gate.open()
        for id in others { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        _ = try await manager.tasks.apply(.resume, to: [refused], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: refused, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aLastingRefusalBesideALongDownloadIsAskedOnceMoreWhenThatHasEnded() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/long", .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        fixture.server.on("/never") { _ in .failure(403) }
        let manager = try await fixture.open()
        try await manager.start()
        let long = try await fixture.add("/long", as: "long", to: manager)
        try await eventually("it is served") {
            await manager.queries.progress(of: [long])[long]?.received ?? 0 >= 100_000
        }
        let refused = try await fixture.add("/never", as: "never", to: manager)
        let wait = try await eventually("it waits for a retry") {
            try await manager.queries.task(refused, for: ManagerFixture.caller).wait
        }
        #expect(wait.reason == .retry)
        #expect(try #require(wait.until) > manager.scheduler.clock().advanced(by: .seconds(600)))
        gate.open()
        #expect(try await fixture.end(of: long, in: manager).state == .completed)
        let failed = try await fixture.end(of: refused, in: manager)
        #expect(failed.state == .failed && failed.error?.httpStatus == 403)
        #expect(fixture.server.requests(to: "/never").count == 2)
        await manager.shutdown(.suspend)
    }

    // MARK: Networks

    private static func add(
        _ path: String, _ fixture: ManagerFixture, to manager: TransferManager
    ) async throws -> TransferTask {
        let rule = try #require(ConnectToRule("files.example:80:127.0.0.1:\(fixture.server.port)"))
        let id = try await fixture.add(
            url: "http://files.example\(path)", as: "f", to: manager
        ) { $0.request.connections.connectTo = [rule] }
        return try await fixture.end(of: id, in: manager)
    }

    @Test func anAnswerOverANetworkThatMayBeAPortalsListsNothing() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/loop") { _ in .redirect(to: "/loop") }
        fixture.server.on("/picture") { _ in
            Reply(200, headers: [HeaderField(name: "Content-Type", value: "image/png")], text: "x")
        }
        let manager = try await fixture.open()
        try await manager.start()
        for path in ["/gone", "/loop"] {
            #expect(try await Self.add(path, fixture, to: manager).state == .failed)
        }
        #expect(try await Self.listed(manager) == [])
        #expect(try await Self.add("/picture", fixture, to: manager).state == .completed)
        let failed = try await Self.add("/gone", fixture, to: manager)
        #expect(failed.state == .failed && failed.error?.reason == .httpStatus)
        #expect(try await Self.listed(manager) == [failed.id])
        await manager.shutdown(.suspend)
    }

    private static func facts(_ address: String) -> NetworkFacts {
        var facts = NetworkFacts()
        facts.links = [NetworkFacts.Link(index: 2, name: "wlan0", isRunning: true)]
        facts.defaultRoutes = [NetworkFacts.DefaultRoute(links: [2])]
        if let address = IPAddress(address) {
            facts.addresses = [NetworkFacts.Address(link: 2, address: address, prefixLength: 24)]
        }
        return facts
    }

    @Test func anotherNetworkClearsWhatWasListedUnderTheFormerOneAlsoAfterARestart() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        try await manager.start()
        await manager.network.onFacts(Self.facts("198.51.100.2"))
        try await eventually("the network is there") { manager.network.state == .unmetered }
        func fail() async throws {
            let id = try await fixture.add("/gone", as: "f", to: manager, retriesFailed: true)
            #expect(try await fixture.end(of: id, in: manager).state == .failed)
            #expect(try await Self.listed(manager) == [id])
        }
        try await fail()
        // The same network after a loss.
        await manager.network.onFacts(NetworkFacts())
        try await eventually("it is gone") { manager.network.state == .offline }
        await manager.network.onFacts(Self.facts("198.51.100.2"))
        try await eventually("it is back") { manager.network.state == .unmetered }
        #expect(try await Self.listed(manager).count == 1)
        await manager.network.onFacts(Self.facts("203.0.113.2"))
        try await eventually("the list is empty") { try await Self.listed(manager) == [] }
        try await fail()
        await manager.shutdown(.suspend)

        manager = try await fixture.open()
        try await manager.start()
        #expect(try await Self.listed(manager).count == 1)
        await manager.network.onFacts(Self.facts("198.51.100.2"))
        try await eventually("the list is empty") { try await Self.listed(manager) == [] }
        await manager.shutdown(.suspend)
    }
}
