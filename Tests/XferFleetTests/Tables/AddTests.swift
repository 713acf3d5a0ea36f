import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferFleet

@Suite struct AddTests {
    @Test func theSameClientKeyGivesTheSameTask() async throws {
        let world = try await FleetWorld()
        var task = FleetWorld.task()
        task.clientKey = "k"
        let first = try await world.fleet.tasks.add([task])
        #expect(try await world.fleet.tasks.add([task]) == [.existing(first[0].task)])
        var other = task
        other.fingerprint = "another"
        #expect(try await world.fleet.tasks.add([other]) == [.conflict(first[0].task)])
        var foreign = task
        foreign.owner = "bob"
        #expect(try await world.fleet.tasks.add([foreign]) != [.existing(first[0].task)])
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func longSpecificationsCountTowardsTheirOwnersStoredBytes() async throws {
        let world = try await FleetWorld()
        let least = FleetTaskTable.longSpecification
        for (length, stored) in [(least - 1, 0), (least, least), (least + 1, 2 * least + 1)] {
            try await world.add { $0.spec = String(repeating: "x", count: length) }
            #expect(try await world.fleet.tasks.storedBytes(of: "ada") == Int64(stored))
        }
        #expect(try await world.fleet.tasks.storedBytes(of: "bob") == 0)
    }

    @Test func aClientKeyThatStandsTwiceInOneCallGivesOneTask() async throws {
        let world = try await FleetWorld()
        var task = FleetWorld.task()
        task.clientKey = "k"
        let outcomes = try await world.fleet.tasks.add([task, FleetWorld.task(), task])
        #expect(outcomes[2] == .existing(outcomes[0].task))
        #expect(try await world.fleet.tasks.counts(FleetTaskFilter())[.queued] == 2)
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func concurrentAddsWithOneClientKeyMakeOneTask() async throws {
        let world = try await FleetWorld()
        let agents = try await [world.fleet, world.anotherAgent(), world.anotherAgent(), world.anotherAgent()]
        for round in 0..<20 {
            let ids = try await withThrowingTaskGroup(of: [FleetAddOutcome].self) { group in
                for agent in agents {
                    group.addTask {
                        // In two orders: no add waits for another one for ever.
                        var tasks = (0..<4).map { number in
                            var task = FleetWorld.task("h\(number).example")
                            task.clientKey = "k\(round)-\(number)"
                            return task
                        }
                        if agent === agents[1] { tasks.reverse() }
                        let outcomes = try await agent.tasks.add(tasks)
                        return agent === agents[1] ? outcomes.reversed() : outcomes
                    }
                }
                return try await group.reduce(into: [[FleetAddOutcome]]()) { $0.append($1) }
            }
            for number in 0..<4 {
                #expect(Set(ids.map { $0[number].task }).count == 1)
                #expect(ids.filter { if case .added = $0[number] { true } else { false } }.count == 1)
            }
        }
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func aThousandTasksOfManyLanesAreAddedAtOnceInTheirOrder() async throws {
        let world = try await FleetWorld()
        let tasks = (0..<1000).map { FleetWorld.task("h\($0 % 50).example") }
        let ids = try await world.fleet.tasks.add(tasks).map(\.task)
        #expect(ids == ids.sorted() && Set(ids).count == 1000)
        #expect(try await world.fleet.tasks.queueFigures().openLanes == 50)
        await #expect(throws: FleetError.self) { try await world.fleet.tasks.add(tasks + tasks) }
        #expect(try await world.fleet.invariants() == [])
    }

    @Test func textsOfAllKindsComeBackAsTheyWere() async throws {
        let world = try await FleetWorld()
        let text = #"{"a":"q\"b\\c\u0000 {,} NULL é 🚀"}"#
        let id = try await world.add {
            $0.spec = text
            $0.label = #"l"\{},"#
            $0.clientKey = ""
        }
        let task = try #require(try await world.fleet.tasks.get(id))
        #expect(task.spec == text)
        #expect(task.label == #"l"\{},"#)
        #expect(task.clientKey == "")
        await #expect(throws: FleetError.self) { try await world.add { $0.spec = "a\0b" } }
    }

    @Test func aDelayedTaskIsQueuedWhenItsTimeHasCome() async throws {
        let world = try await FleetWorld()
        let node = try await world.join()
        let id = try await world.add { $0.notBefore = Timestamp(seconds: 4_000_000_000) }
        #expect(try await world.state(id) == .delayed)
        #expect(try await world.fleet.tasks.wakeDelayed() == 0)
        #expect(try await world.claim(node) == [])
        try await world.postgres.sql("UPDATE fleet_delayed SET due = now()")
        #expect(try await world.fleet.tasks.wakeDelayed() == 1)
        #expect(try await world.claim(node).map(\.claimKey.task) == [id])
        #expect(try await world.fleet.invariants() == [])
    }
}
