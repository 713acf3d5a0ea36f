import NIOConcurrencyHelpers
import Testing
import XferModel
import XferProtocol
import XferSystem
import XferTestSupport

@testable import XferManager

/// What the manager does with the facts that it gets about the network.
@Suite struct NetworkFollowingTests {
    @Sendable private static func metered(_ settings: inout ManagerSettings) {
        settings.meteredInterfaces = [InterfacePattern("wwan*")].compactMap(\.self)
    }

    private static func facts(_ interface: String, _ address: String = "198.51.100.2") -> NetworkFacts {
        var facts = NetworkFacts()
        facts.links = [NetworkFacts.Link(index: 2, name: interface, isRunning: true)]
        facts.defaultRoutes = [NetworkFacts.DefaultRoute(links: [2])]
        if let address = IPAddress(address) {
            facts.addresses = [NetworkFacts.Address(link: 2, address: address, prefixLength: 24)]
        }
        return facts
    }

    private func states(_ manager: TransferManager) async throws -> [NetworkState] {
        guard
            case .events(let events, _) = try await manager.queries.events(
                since: 0, EventFilter(types: [.networkChanged]), limit: 100)
        else { return [] }
        return events.compactMap { if case .networkChanged(let state) = $0.payload { state } else { nil } }
    }

    @Test func networkChangesArePublishedInOrderOnceTheyHaveSettled() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: Self.metered)
        try await manager.start()
        await manager.network.onFacts(Self.facts("eth0"))
        try await eventually("unmetered") { manager.network.state == .unmetered }
        await manager.network.onFacts(Self.facts("wwan0"))
        try await eventually("metered") { manager.network.state == .metered }
        await manager.network.onFacts(NetworkFacts())
        try await eventually("offline") { manager.network.state == .offline }
        let status = manager.network.status()
        #expect(status.monitored && status.interfaces.isEmpty)
        try await eventually("all states have their events") {
            try await states(manager) == [.unknown, .unmetered, .metered, .offline]
        }
        await manager.shutdown(.suspend)
    }

    /// A connection from an address that is gone is dead without an error, also that of a small file and after a second
    /// change soon after the first.
    @Test(arguments: [1000, 400_000] as [Int64])
    func aDownloadWhoseAddressIsGoneIsFetchedAgainWithoutWaitingForItsTimeout(length: Int64) async throws {
        let fixture = try await ManagerFixture()
        let never = Gate()
        defer { never.open() }
        for path in ["/a", "/b"] {
            fixture.server.serve(path, .tagged(1, length: length), faults: [[.stall(at: 100, until: never)]])
        }
        let manager = try await fixture.open()
        try await manager.start()
        await manager.network.onFacts(Self.facts("eth0"))
        try await eventually("the network is up") { manager.network.state == .unmetered }
        var ids: [TaskID] = []
        for (count, path) in ["/a", "/b"].enumerated() {
            let name = String(path.dropFirst())
            ids.append(try await fixture.add(path, as: name, to: manager) { $0.request.timeouts.idle = 3600 })
            try await eventually("it is under way") { fixture.server.requests.count > count }
            await manager.network.onFacts(Self.facts("eth0", "198.51.100.\(3 + count)"))
            try await eventually("the change has settled") { await !manager.network.stallWatches.isEmpty }
        }
        for id in ids { #expect(try await fixture.end(of: id, in: manager).state == .completed) }
        #expect(fixture.server.requests.count == 4)
        await manager.shutdown(.suspend)
    }

    /// More tasks than the manager examines in one step.
    @Test func manyThatAvoidMeteredLinksAreHeldBackAndStartAllTheSame() async throws {
        let fixture = try await ManagerFixture()
        let source = SourceVersion.tagged(1, length: 10)
        fixture.server.serve("/f", source)
        let manager = try await fixture.open(change: Self.metered)
        try await manager.start()
        await manager.network.onFacts(Self.facts("wwan0"))
        let drafts = (0..<1200).map { index in
            TaskDraft(url: fixture.server.url("/f")) { [downloads = fixture.downloads] request in
                var request = request
                request.allowsMetered = index == 1199
                return TaskSpecification(
                    owner: ManagerFixture.caller.owner, request: request,
                    destination: Destination(directory: downloads, name: "\(index)"))
            }
        }
        let added = try await manager.tasks.add(drafts, for: ManagerFixture.caller)
        // The last in line may start, however many before it may not.
        let last = try #require(added.last).id
        #expect(try await fixture.end(of: last, in: manager).state == .completed)
        #expect(try await manager.queries.counts()[.waiting] == 1199)
        #expect(fixture.server.requests.count == 1)
        await manager.network.onFacts(Self.facts("eth0"))
        try await eventually("no task is held back any more", within: Patience.long) {
            try await manager.queries.counts()[.waiting] ?? 0 == 0
        }
        #expect(try await manager.queries.counts()[.failed] == nil)
        await manager.shutdown(.cancel)
    }

    @Test func settingTheClockMovesPendingWaits() async throws {
        let fixture = try await ManagerFixture()
        // So long that no try comes between the step and its notice.
        fixture.server.serve(
            "/f", SourceVersion.tagged(2, length: 10), faults: [[.status(503, retryAfter: "600")]])
        let clock = ManualWallClock()
        let manager = try await fixture.open(clock: clock.now)
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let wait = try await eventually("it backs off") {
            try await manager.queries.task(id, for: ManagerFixture.caller).wait?.until
        }
        clock.step(by: .seconds(86_400))
        await manager.onClockSet()
        let moved = try #require(try await manager.queries.task(id, for: ManagerFixture.caller).wait?.until)
        let length = wait.duration(to: moved)
        #expect((Duration.seconds(86_395)...Duration.seconds(86_405)).contains(length), "\(length)")
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        // A step back does not lengthen any task's wait.
        clock.step(by: .seconds(-200_000))
        await manager.onClockSet()
        fixture.server.serve("/g", SourceVersion.tagged(3, length: 10), faults: [[.status(503)]])
        let second = try await fixture.add("/g", as: "g", to: manager)
        #expect(try await fixture.end(of: second, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }
}

/// The system's wall clock, and what was added to it.
private final class ManualWallClock: Sendable {
    private let added = NIOLockedValueBox(Duration.zero)

    var now: WallClock { { [added] in Clocks.wall().advanced(by: added.withLockedValue { $0 }) } }

    func step(by amount: Duration) { added.withLockedValue { $0 += amount } }
}
