import Testing
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// Which tasks of a host wait for an answer, for how long, and who can end that.
@Suite struct HostCooldownTests {
    private static let busy = Reply.failure(503, retryAfter: "1800")

    private static func wait(of id: TaskID, in manager: TransferManager) async throws -> Wait? {
        let task = try await manager.queries.task(id, for: ManagerFixture.caller)
        if task.state == .waiting { return task.wait }
        return try await manager.queries.waits(of: [task])[id]
    }

    private static func waits(_ id: TaskID, for reason: WaitReason, in manager: TransferManager) async throws {
        try await eventually("it waits") { try await wait(of: id, in: manager)?.reason == reason }
    }

    private static func guest(_ uid: UInt32, _ fixture: ManagerFixture) -> Principal {
        Principal(owner: Owner(uid: uid), isOperator: false, roots: [fixture.directory.path])
    }

    private static func cooldown(_ fixture: ManagerFixture, in manager: TransferManager) async throws -> HostCooldown? {
        let host = "127.0.0.1:\(fixture.server.port)"
        return try await manager.store.read { try $0.cooldowns.find(of: host) }
    }

    /// A manager with a task that the server has made wait, and the first bytes of another one's URL.
    private func fixture(_ replies: [String: Reply]) async throws -> ManagerFixture {
        let fixture = try await ManagerFixture()
        for (path, reply) in replies { fixture.server.on(path) { _ in reply } }
        fixture.server.serve("/f", .tagged(1, length: 1000))
        return fixture
    }

    @Test func aBusyURLHoldsNoOtherTaskOfItsHost() async throws {
        let fixture = try await fixture(["/busy": Self.busy])
        let manager = try await fixture.open()
        try await manager.start()
        let busy = try await fixture.add("/busy", as: "busy", to: manager)
        try await Self.waits(busy, for: .retry, in: manager)
        let other = try await fixture.add("/f", as: "f", to: manager)
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        let until = try #require(try await Self.wait(of: busy, in: manager)?.until)
        #expect(until > manager.scheduler.clock().advanced(by: .seconds(1700)))
        await manager.shutdown(.suspend)
    }

    @Test func aSecondBusyURLHoldsTheHostAndIsNamedUntilATaskIsResumed() async throws {
        let fixture = try await fixture(["/busy": Self.busy, "/page": Self.busy])
        let manager = try await fixture.open()
        try await manager.start()
        let first = try await fixture.add("/busy", as: "a", to: manager)
        try await Self.waits(first, for: .retry, in: manager)
        // The same URL once more says nothing about the host.
        let again = try await fixture.add("/busy", as: "b", to: manager) { $0.coalesces = false }
        try await Self.waits(again, for: .retry, in: manager)
        #expect(try await manager.store.read { try $0.cooldowns.earliestEnd() } == nil)
        let second = try await fixture.add("/page?token=s3cret", as: "c", to: manager)
        try await Self.waits(second, for: .retry, in: manager)

        let other = try await fixture.add("/f", as: "f", to: manager)
        let wait = try #require(try await Self.wait(of: other, in: manager))
        #expect(wait.reason == .hostCooldown && wait.until != nil)
        #expect(wait.url == fixture.server.url("/page?token=***"))
        let resumed = try await manager.tasks.apply(.resume, to: [other], for: ManagerFixture.caller)
        #expect(resumed.changed == [other])
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func anotherGuestIsNotToldTheURL() async throws {
        let fixture = try await fixture(["/busy": .failure(429, retryAfter: "1800")])
        let manager = try await fixture.open()
        try await manager.start()
        func guest(_ uid: UInt32) -> Principal { Self.guest(uid, fixture) }
        let busy = try await fixture.add("/busy", as: "busy", to: manager, for: guest(1000))
        try await Self.waits(busy, for: .retry, in: manager)
        for (uid, isShown): (UInt32, Bool) in [(1000, true), (1001, false)] {
            let task = try await fixture.add("/f", as: "f\(uid)", to: manager, for: guest(uid))
            let wait = try #require(try await Self.wait(of: task, in: manager))
            #expect(wait.reason == .hostCooldown && (wait.url != nil) == isShown)
        }
        await manager.shutdown(.suspend)
    }

    @Test func a429HoldsTheHostOverARestartUntilItsTaskIsCancelled() async throws {
        let fixture = try await fixture(["/busy": .failure(429, retryAfter: "1800")])
        var manager = try await fixture.open()
        try await manager.start()
        let busy = try await fixture.add("/busy", as: "busy", to: manager)
        try await Self.waits(busy, for: .retry, in: manager)
        let other = try await fixture.add("/f", as: "f", to: manager)
        #expect(try await Self.wait(of: other, in: manager)?.reason == .hostCooldown)
        await manager.shutdown(.suspend)

        manager = try await fixture.open()
        try await manager.start()
        #expect(try await Self.wait(of: other, in: manager)?.url == fixture.server.url("/busy"))
        _ = try await manager.tasks.apply(.cancel, to: [busy], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        #expect(try await manager.store.read { try $0.cooldowns.earliestEnd() } == nil)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [nil, "soon", "0"] as [String?]) func a429WithoutATimeHoldsTheHost(retryAfter: String?)
        async throws
    {
        let fixture = try await fixture(["/busy": .failure(429, retryAfter: retryAfter)])
        let manager = try await fixture.open()
        try await manager.start()
        let busy = try await fixture.add("/busy", as: "busy", to: manager)
        let until = try await eventually("the host is held") { [host = "127.0.0.1:\(fixture.server.port)"] in
            try await manager.store.read { try $0.cooldowns.end(of: host) }
        }
        let task = try await manager.queries.task(busy, for: ManagerFixture.caller)
        #expect(try #require(task.startedAt).duration(to: until) >= .milliseconds(500))
        await manager.shutdown(.suspend)
    }

    @Test func resumingTheQueueWithNowLiftsEveryWait() async throws {
        let fixture = try await fixture([:])
        let isOpen = Gate()
        for path in ["/busy", "/page"] {
            fixture.server.on(path) { _ in isOpen.isOpen ? Reply(200, text: "ok") : .failure(429, retryAfter: "1800") }
        }
        let manager = try await fixture.open()
        try await manager.start()
        let busy = try await fixture.add("/busy", as: "a", to: manager)
        try await Self.waits(busy, for: .retry, in: manager)
        let page = try await fixture.add("/page", as: "b", to: manager)
        #expect(try await Self.wait(of: page, in: manager)?.reason == .hostCooldown)
        let later = try await fixture.add("/f", as: "f", to: manager) {
            $0.schedule.notBefore = Timestamp(seconds: 4_000_000_000)
        }
        isOpen.open()
        try await manager.queue.resume()
        #expect(try await Self.wait(of: page, in: manager)?.reason == .hostCooldown)
        try await manager.queue.resume(liftsWaits: true)
        for id in [busy, page] { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        #expect(try await Self.wait(of: later, in: manager)?.reason == .schedule)
        await manager.shutdown(.suspend)
    }

    @Test func anAnswerOfATasksOwnProxyHoldsNoOtherTaskOfTheHost() async throws {
        let fixture = try await fixture([:])
        let proxy = try await FaultServer()
        proxy.onAnyOther { _ in .failure(429, retryAfter: "1800") }
        let manager = try await fixture.open()
        try await manager.start()
        let busy = try await fixture.add("/busy", as: "busy", to: manager, for: Self.guest(1000, fixture)) {
            [port = proxy.port] in $0.request.proxy = ProxySettings(url: "http://127.0.0.1:\(port)")
        }
        try await Self.waits(busy, for: .retry, in: manager)
        #expect(proxy.requests.count == 1)
        #expect(try await Self.cooldown(fixture, in: manager) == nil)
        let other = try await fixture.add("/f", as: "f", to: manager)
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aGuestsResumeStartsItsOwnTaskAndLeavesTheHostCool() async throws {
        let fixture = try await fixture(["/busy": .failure(429, retryAfter: "1800")])
        let manager = try await fixture.open()
        try await manager.start()
        let busy = try await fixture.add("/busy", as: "busy", to: manager)
        try await Self.waits(busy, for: .retry, in: manager)
        let guest = Self.guest(1000, fixture)
        let own = try await fixture.add("/f", as: "own", to: manager, for: guest)
        let other = try await fixture.add("/f", as: "other", to: manager) { $0.coalesces = false }
        for id in [own, other] {
            #expect(try await Self.wait(of: id, in: manager)?.reason == .hostCooldown)
        }
        let resumed = try await manager.tasks.apply(.resume, to: [own], for: guest)
        #expect(resumed.changed == [own])
        #expect(try await fixture.end(of: own, in: manager).state == .completed)
        #expect(try await Self.wait(of: other, in: manager)?.reason == .hostCooldown)
        #expect(try await Self.cooldown(fixture, in: manager)?.cause?.task == busy)
        await manager.shutdown(.suspend)
    }

    @Test func aGuestsResumeEndsWhatAnswersToItsOwnTasksHaveCaused() async throws {
        let fixture = try await fixture([:])
        let isOpen = Gate()
        fixture.server.on("/busy") { _ in
            isOpen.isOpen ? Reply(200, text: "ok") : .failure(429, retryAfter: "1800")
        }
        let manager = try await fixture.open()
        try await manager.start()
        let guest = Self.guest(1000, fixture)
        let busy = try await fixture.add("/busy", as: "busy", to: manager, for: guest)
        try await Self.waits(busy, for: .retry, in: manager)
        let other = try await fixture.add("/f", as: "other", to: manager)
        #expect(try await Self.wait(of: other, in: manager)?.reason == .hostCooldown)
        isOpen.open()
        _ = try await manager.tasks.apply(.resume, to: [busy], for: guest)
        for id in [busy, other] { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        await manager.shutdown(.suspend)
    }

    @Test func aCooldownGoesOnForAnotherRefusedTaskWhenItsCauseIsCancelled() async throws {
        let fixture = try await fixture([
            "/busy": .failure(429, retryAfter: "1800"), "/page": .failure(429, retryAfter: "900"),
        ])
        let manager = try await fixture.open()
        try await manager.start()
        let first = try await fixture.add("/busy", as: "a", to: manager)
        try await Self.waits(first, for: .retry, in: manager)
        let guest = Self.guest(1000, fixture)
        let second = try await fixture.add("/page", as: "b", to: manager, for: guest)
        _ = try await manager.tasks.apply(.resume, to: [second], for: guest)
        try await Self.waits(second, for: .retry, in: manager)
        #expect(try await Self.cooldown(fixture, in: manager)?.cause?.task == first)
        let other = try await fixture.add("/f", as: "f", to: manager)
        _ = try await manager.tasks.apply(.cancel, to: [first], for: ManagerFixture.caller)
        try await eventually("the cooldown has the other cause") {
            try await Self.cooldown(fixture, in: manager)?.cause?.task == second
        }
        #expect(try await Self.wait(of: other, in: manager)?.reason == .hostCooldown)
        _ = try await manager.tasks.apply(.cancel, to: [second], for: guest)
        #expect(try await fixture.end(of: other, in: manager).state == .completed)
        #expect(try await Self.cooldown(fixture, in: manager) == nil)
        await manager.shutdown(.suspend)
    }
}
