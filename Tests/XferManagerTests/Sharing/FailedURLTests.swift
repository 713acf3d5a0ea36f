import NIOConcurrencyHelpers
import Testing
import XferModel
import XferProtocol
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// URLs that failed for good are not requested again; other failed URLs are.
@Suite struct FailedURLTests {
    /// Some user with the given uid, allowed to write where the fixture does.
    private static func user(_ uid: UInt32) -> Principal {
        Principal(owner: Owner(uid: uid), isOperator: false, roots: ["/"])
    }

    private static func list(_ manager: TransferManager, _ caller: Principal = ManagerFixture.caller) async throws
        -> [FailedURL]
    {
        try await manager.failedURLs.list(ascending: true, limit: 100, cursor: nil, for: caller).page.entries
    }

    @Test func aListedURLIsNotRequestedEvenAfterARestart() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        try await manager.start()
        let first = try await fixture.add("/gone?key=s3cret", as: "a", to: manager)
        #expect(try await fixture.end(of: first, in: manager).error?.reason == .httpStatus)
        let entry = try #require(try await Self.list(manager).first)
        #expect(entry.url == fixture.server.url("/gone?key=***") && entry.taskID == first)

        for round in 0..<2 {
            let blocked = try await fixture.add("/gone?key=s3cret", as: "a", to: manager, startsPaused: round == 1)
            let task = try await manager.queries.task(blocked, for: ManagerFixture.caller)
            #expect(task.state == .failed && task.error?.reason == .blockedURL && task.error?.httpStatus == 404)
            #expect(task.finishedAt != nil && task.startedAt == nil && task.transferID == nil)
            #expect(try await fixture.events(of: blocked, in: manager) == [.taskAdded, .taskFailed])
            #expect(fixture.server.requests.count == 1)
            await manager.shutdown(.suspend)
            manager = try await fixture.open()
            try await manager.start()
        }
        // The query tells requests apart, not the path alone.
        let other = try await fixture.add("/gone?key=other", as: "a", to: manager)
        #expect(try await fixture.end(of: other, in: manager).error?.reason == .httpStatus)
        #expect(fixture.server.requests.count == 2)
        await manager.shutdown(.suspend)
    }

    @Test func aDemandedRetryIsServedAndItsSuccessRemovesTheEntry() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        _ = try await fixture.end(of: try await fixture.add("/a", as: "a", to: manager), in: manager)
        let blocked = try await fixture.add("/a", as: "a", to: manager)
        #expect(try await fixture.end(of: blocked, in: manager).error?.reason == .blockedURL)
        let again = try await fixture.add("/a", as: "a", to: manager, retriesFailed: true)
        #expect(try await fixture.end(of: again, in: manager).error?.reason == .httpStatus)
        #expect(try await Self.list(manager).map(\.taskID) == [again])

        fixture.server.serve("/a", .tagged(1, length: 1000))
        // A retry insists, too.
        #expect(try await manager.tasks.apply(.retry, to: [blocked], for: ManagerFixture.caller).changed == [blocked])
        #expect(try await fixture.end(of: blocked, in: manager).state == .completed)
        #expect(try await Self.list(manager) == [])
        let last = try await fixture.add("/a", as: "b", to: manager)
        #expect(try await fixture.end(of: last, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    /// SDWebImage's exclusions: a failure that says nothing about the URL never lists it.
    @Test(arguments: [401, 403, 408, 423, 425, 429, 500, 501, 503]) func aStatusThatDoesNotConcernTheURLNeverListsIt(
        status: Int
    )
        async throws
    {
        let fixture = try await ManagerFixture()
        fixture.server.on("/a") { _ in Reply.failure(status) }
        let manager = try await fixture.open()
        try await manager.start()
        for _ in 0..<2 {
            let id = try await fixture.add("/a", as: "a", to: manager) { $0.retry.maxRetries = 0 }
            // After a 429 the host is not asked for a while.
            try await manager.queue.resume(liftsWaits: true)
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .failed && task.error?.reason != .blockedURL, "\(task)")
        }
        #expect(fixture.server.requests.count == 2)
        #expect(try await Self.list(manager) == [])
        await manager.shutdown(.suspend)
    }

    @Test func neitherATimeoutNorARefusedConnectionNorACancelLists() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.serve("/slow", .tagged(1, length: 1000)).always(.stallHead(until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let refused = try await fixture.add(url: closed.url("/x"), as: "a", to: manager) {
            $0.retry.maxRetries = 0
        }
        let late = try await fixture.add("/slow", as: "b", to: manager) {
            $0.retry.maxRetries = 0
            $0.request.timeouts.idle = 0.2
        }
        let cancelled = try await fixture.add("/slow", as: "c", to: manager)
        _ = try await manager.tasks.apply(.cancel, to: [cancelled], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: refused, in: manager).error?.reason == .connectFailed)
        #expect(try await fixture.end(of: late, in: manager).error?.reason == .idleTimeout)
        #expect(try await Self.list(manager) == [])
        gate.open()
        await manager.shutdown(.suspend)
    }

    @Test func aRedirectLoopOrARedirectToFTPListsTheURL() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/ftp") { _ in Reply.redirect(to: "ftp://127.0.0.1/x") }
        fixture.server.on("/loop") { _ in Reply.redirect(to: "/loop") }
        let manager = try await fixture.open()
        try await manager.start()
        for path in ["/ftp", "/loop"] {
            _ = try await fixture.end(of: try await fixture.add(path, as: "a", to: manager), in: manager)
            let count = fixture.server.requests.count
            let task = try await fixture.end(of: try await fixture.add(path, as: "a", to: manager), in: manager)
            #expect(task.error?.reason == .blockedURL, "\(task)")
            #expect(fixture.server.requests.count == count)
        }
        await manager.shutdown(.suspend)
    }

    @Test func anEntryCountsForItsTimeOnly() async throws {
        let fixture = try await ManagerFixture()
        let ahead = NIOLockedValueBox(Duration.zero)
        let manager = try await fixture.open(clock: { Clocks.wall().advanced(by: ahead.withLockedValue(\.self)) })
        try await manager.start()
        _ = try await fixture.end(of: try await fixture.add("/a", as: "a", to: manager), in: manager)
        ahead.withLockedValue { $0 = .seconds(3500) }
        let blocked = try await fixture.end(of: try await fixture.add("/a", as: "a", to: manager), in: manager)
        #expect(blocked.error?.reason == .blockedURL)
        for jump in [Duration.seconds(3700), .seconds(-3700)] {
            ahead.withLockedValue { $0 = jump }
            #expect(try await Self.list(manager) == [])
            #expect(fixture.server.requests.count == 1)
        }
        // The trimmer removes its row, too.
        try await manager.background.trimmer.trimFailedURLs(at: manager.clock())
        #expect(try await manager.store.read { try $0.failedURLs.hasAny() } == false)
        let free = try await fixture.end(of: try await fixture.add("/a", as: "a", to: manager), in: manager)
        #expect(free.error?.reason == .httpStatus)
        await manager.shutdown(.suspend)
    }

    @Test func aTimeOfZeroTurnsTheListOff() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.negativeTTL = .zero })
        try await manager.start()
        for _ in 0..<2 {
            let task = try await fixture.end(of: try await fixture.add("/a", as: "a", to: manager), in: manager)
            #expect(task.error?.reason == .httpStatus)
        }
        #expect(try await Self.list(manager) == [])
        #expect(fixture.server.requests.count == 2)
        await manager.shutdown(.suspend)
    }

    @Test func entriesOfDifferentCredentialsAndOwnersAreSeparate() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let (ada, bob) = (Self.user(1001), Self.user(1002))
        for caller in [ada, bob] {
            let id = try await fixture.add("/a", as: "a", to: manager, for: caller)
            #expect(try await fixture.end(of: id, in: manager).error?.reason == .httpStatus)
        }
        let known = try await fixture.add("/a", as: "a", to: manager, for: ada) {
            $0.request.credential = Credential(user: "ada", password: "pw")
        }
        #expect(try await fixture.end(of: known, in: manager).error?.reason == .httpStatus)

        // A user sees and removes their own entries, an operator those of all users.
        #expect(try await Self.list(manager, bob).map(\.owner.rawValue) == [1002])
        let everybodys = try await Self.list(manager).map(\.id)
        #expect(everybodys.count == 3)
        // The ids are as many as take several writes.
        let absent = (Int64(1_000_000)..<1_001_200).map { FailedURLID($0) }
        #expect(try await manager.failedURLs.remove(.ids(everybodys + absent + everybodys), for: bob).count == 1)
        #expect(try await manager.failedURLs.remove(.url(fixture.server.url("/a")), for: bob) == [])
        #expect(try await manager.failedURLs.clear(for: bob) == 0)
        #expect(try await manager.failedURLs.remove(.url(fixture.server.url("/a")), for: ada).count == 2)
        let free = try await fixture.add("/a", as: "a", to: manager, for: ada)
        #expect(try await fixture.end(of: free, in: manager).error?.reason == .httpStatus)
        #expect(try await manager.failedURLs.clear(for: ManagerFixture.caller) == 1)
        await manager.shutdown(.suspend)
    }

    @Test func ownersShareEntriesIfTheOperatorAllowsIt() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.sharesBetweenOwners = true })
        try await manager.start()
        let first = try await fixture.add("/a", as: "a", to: manager, for: Self.user(1001))
        _ = try await fixture.end(of: first, in: manager)
        let second = try await fixture.add("/a", as: "a", to: manager, for: Self.user(1002))
        #expect(try await fixture.end(of: second, in: manager).error?.reason == .blockedURL)
        await manager.shutdown(.suspend)
    }
}
