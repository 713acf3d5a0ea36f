import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferFleet

@Suite struct ListTests {
    @Test func pagesGoThroughAllTasksOnceInBothDirections() async throws {
        let world = try await FleetWorld()
        let ids = try await world.fleet.tasks.add((0..<25).map { _ in FleetWorld.task() }).map(\.task)
        for newestFirst in [false, true] {
            var seen: [FleetTaskID] = []
            var after: FleetTaskID?
            repeat {
                let page = try await world.fleet.tasks.list(
                    FleetTaskFilter(), after: after, newestFirst: newestFirst, limit: 10)
                seen += page.tasks.map(\.id)
                after = page.next
            } while after != nil
            #expect(seen == (newestFirst ? ids.reversed() : ids))
        }
    }

    @Test func tasksThatAreNamedAreReadInOneCallAndInTheirOrder() async throws {
        let world = try await FleetWorld()
        let ids = try await world.fleet.tasks.add((0..<5).map { _ in FleetWorld.task() }).map(\.task)
        let wanted = [ids[3], ids[0], ids[4]]
        let found = try await world.fleet.tasks.get(wanted + [FleetTaskID(999_999)])
        #expect(found.map(\.id) == wanted && found.allSatisfy { $0.spec != nil })
        let outlines = try await world.fleet.tasks.get(wanted, withSpecs: false)
        #expect(outlines.map(\.id) == wanted && outlines.allSatisfy { $0.spec == nil })
        #expect(try await world.fleet.tasks.get([FleetTaskID]()).isEmpty)
    }

    @Test(arguments: FleetTaskState.allCases) func aFilterByStateGivesTheTasksOfThatStateAlone(state: FleetTaskState)
        async throws
    {
        let world = try await FleetWorld()
        let node = try await world.join()
        for ending in FleetEnding.allCases {
            try await world.add()
            _ = try await world.end(node, try await world.claim(node), ending)
        }
        try await world.add()
        _ = try await world.claim(node)
        try await world.add()
        try await world.add { $0.startsPaused = true }
        try await world.add { $0.notBefore = .init(seconds: 4_000_000_000) }
        var filter = FleetTaskFilter()
        filter.states = [state]
        let page = try await world.fleet.tasks.list(filter, after: nil, newestFirst: false, limit: 10)
        #expect(page.tasks.map(\.state) == [state])
        #expect(try await world.fleet.tasks.counts(filter).byState == [state: 1])
        #expect(try await world.fleet.tasks.counts(FleetTaskFilter())[state] == 1)
    }

    @Test func conditionsOfAFilterHoldTogether() async throws {
        let world = try await FleetWorld()
        let wanted = try await world.add {
            ($0.group, $0.label, $0.clientKey, $0.place) = ("g", "l", "k", .label("x"))
        }
        try await world.add { $0.group = "g" }
        var filter = FleetTaskFilter()
        (filter.owner, filter.group, filter.host, filter.label) = ("ada", "g", HostSelector("A.example"), "l")
        (filter.clientKey, filter.place) = ("k", .label("x"))
        let page = try await world.fleet.tasks.list(filter, after: nil, newestFirst: false, limit: 10)
        #expect(page.tasks.map(\.id) == [wanted])
        filter.node = "one"
        #expect(try await world.fleet.tasks.counts(filter).byState == [:])
    }

    @Test func aHostWithoutAPortIsItsTasksAtEveryPort() async throws {
        let world = try await FleetWorld()
        var ids: [FleetTaskID] = []
        for host in ["h", "h:8080", "hh", "[::1]:81", "x.h:8080"] { ids.append(try await world.add { $0.host = host }) }
        func found(_ host: String) async throws -> [FleetTaskID] {
            var filter = FleetTaskFilter()
            filter.host = HostSelector(host)
            return try await world.fleet.tasks.list(filter, after: nil, newestFirst: false, limit: 10).tasks.map(\.id)
        }
        #expect(try await found("H") == [ids[0], ids[1]])
        #expect(try await found("h:8080") == [ids[1]])
        #expect(try await found("[0::1]") == [ids[3]])
        #expect(try await found("h_") == [])
    }

    @Test func aBatchCountsItsTasksAndItsKeyIsUnique() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let made = try await world.fleet.batches.add(owner: "ada", name: "b", clientKey: "k", fingerprint: "f")
        guard case .added(let id) = made else {
            Issue.record("\(made)")
            return
        }
        #expect(
            try await world.fleet.batches.add(owner: "ada", name: "b", clientKey: "k", fingerprint: "f")
                == .existing(id))
        #expect(
            try await world.fleet.batches.add(owner: "ada", name: "b", clientKey: "k", fingerprint: "g")
                == .conflict(id))
        _ = try await world.fleet.tasks.add(
            (0..<3).map { _ in
                var task = FleetWorld.task()
                task.batch = id
                return task
            })
        _ = try await world.end(node, try await world.claim(node, 1))
        let row = try #require(try await world.fleet.batches.get(id))
        #expect(row.counts.byState == [.completed: 1, .queued: 2] && row.owner == "ada" && row.name == "b")
        #expect(try await world.fleet.batches.list(owner: "bob", before: nil, limit: 10) == [])
        #expect(try await world.fleet.batches.list(owner: nil, before: nil, limit: 10).map(\.id) == [id])
    }

    @Test func figuresShowLanesAndTheOldestQueuedTask() async throws {
        let world = try await FleetWorld()
        try await world.add()
        try await world.add()
        try await world.add { $0.host = "b.example" }
        let figures = try await world.fleet.tasks.queueFigures()
        #expect(figures.openLanes == 2 && figures.counts[.queued] == 3 && figures.oldestQueued ?? -1 >= 0)
        #expect(figures.newestEvent == 4)
        let lanes = try await world.fleet.tasks.lanes(limit: 10)
        #expect(lanes.map(\.host) == ["a.example", "b.example"] && lanes.map(\.queued) == [2, 1])
    }
}
