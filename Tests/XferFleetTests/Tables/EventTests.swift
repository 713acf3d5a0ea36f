import Testing
import XferCore
import XferTestSupport

@testable import XferFleet

@Suite struct EventTests {
    @Test func eventsTellOfEveryStepWithoutAGap() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        _ = try await world.end(node, try await world.claim(node), .failed)
        let page = try await world.fleet.events.list(since: 0, limit: 100)
        #expect(page.events.map(\.kind) == [.fleetCreated, .nodeJoined, .added, .leased, .ended])
        #expect(page.events.map(\.seq) == Array(1...5))
        #expect(page.events.suffix(3).allSatisfy { $0.task == id && $0.owner == "ada" })
        #expect(page.events.last?.detail == #"{"state":"failed","detail":{}}"#)
        #expect(page.newest == 5 && page.next == 5 && page.oldest == 1)
        #expect(try await world.fleet.events.list(since: 5, limit: 100).next == 5)
    }

    @Test func aFilteredPageGoesOnAfterWhatItLeftOut() async throws {
        let world = try await FleetWorld()
        let foreign = try await world.add { $0.owner = "bob" }
        for _ in 0..<5 { try await world.add() }
        var filter = FleetEventFilter()
        filter.owner = "bob"
        let page = try await world.fleet.events.list(since: 0, limit: 10, filter: filter)
        #expect(page.events.map(\.task) == [foreign])
        #expect(page.next == page.newest)
        filter = FleetEventFilter()
        filter.kinds = [.added]
        let first = try await world.fleet.events.list(since: 0, limit: 2, filter: filter)
        #expect(first.events.count == 2 && first.next == first.events[1].seq)
    }

    @Test func concurrentTransactionsLeaveNoGapAndNoEventOutOfOrder() async throws {
        let world = try await FleetWorld()
        let agents = try await [world.fleet, world.anotherAgent(), world.anotherAgent(), world.anotherAgent()]
        async let read: [Int64] = {
            // Each event comes in its order while others are committed.
            var seen: [Int64] = []
            while seen.count < 201 {
                seen += try await world.fleet.events.list(since: seen.last ?? 0, limit: 50).events.map(\.seq)
            }
            return seen
        }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, agent) in agents.enumerated() {
                group.addTask {
                    for _ in 0..<50 { _ = try await agent.tasks.add([FleetWorld.task("h\(number).example")]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await read == Array(1...201))
    }

    @Test func trimmingKeepsTheNewestEventsAndRemovesOldEnds() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add()
        _ = try await world.end(node, try await world.claim(node))
        let live = try await world.add()
        #expect(try await !world.fleet.events.trim(keepEvents: 2, history: .seconds(3600)))
        let page = try await world.fleet.events.list(since: 0, limit: 100)
        #expect(page.oldest == page.newest - 1 && page.events.count == 2)
        #expect(try await world.fleet.events.newest() == page.newest)
        #expect(try await world.state(id) == .completed)
        try await world.postgres.sql("UPDATE fleet_end SET ended_at = now() - interval '2 hours'")
        _ = try await world.fleet.events.trim(keepEvents: 0, history: .seconds(3600))
        #expect(try await world.state(id) == nil)
        #expect(try await world.state(live) == .queued)
        #expect(try await world.fleet.invariants() == [])
        // Numbers go on where they were.
        try await world.add()
        #expect(try await world.fleet.events.list(since: 0, limit: 100).newest == page.newest + 1)
    }
}
