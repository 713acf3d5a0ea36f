import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// Which tasks a crash would be laid to.
struct InFlightTests {
    @Test func aTaskIsInFlightFromItsLaunchToItsEnd() {
        let tasks = InFlightTasks()
        tasks.consider(TaskID(1))
        tasks.consider(TaskID(2))
        tasks.launch(TaskID(1))
        tasks.endPass()
        #expect(tasks.tasks == [TaskID(1)])
        tasks.launch(TaskID(3))
        tasks.leave(TaskID(1))
        #expect(tasks.tasks == [TaskID(3)])
        tasks.during(TaskID(3)) { #expect(tasks.tasks == [TaskID(3)]) }
        tasks.during(TaskID(4)) { #expect(tasks.tasks == [TaskID(3), TaskID(4)]) }
        #expect(tasks.tasks == [TaskID(3)])
    }

    @Test func tasksBeyondTheSlotsDoNotDisplaceRecordedOnes() {
        let tasks = InFlightTasks()
        let count = Int64(InFlightTasks.capacity)
        for id in 1...count + 10 { tasks.launch(TaskID(id)) }
        #expect(tasks.tasks == Set((1...count).map { TaskID($0) }))
        for id in 1...count + 10 { tasks.leave(TaskID(id)) }
        #expect(tasks.tasks.isEmpty)
        tasks.launch(TaskID(count + 10))
        #expect(tasks.tasks == [TaskID(count + 10)])
    }

    @Test func aStartThatIsNotCommittedYetIsInFlight() async throws {
        let fixture = try await ManagerFixture()
        // The manager itself starts nothing meanwhile.
        let manager = try await fixture.open()
        await manager.scheduler.hold(.pausedByOperator)
        let id = try await fixture.add("/a", as: "a", to: manager)
        let settings = manager.context.settings.withLockedValue(\.self)
        let starting = SchedulingPass(
            scheduler: SchedulerStateMachine(limits: SchedulerLimits()), live: [:], isSharedBetweenOwners: false,
            inputs: manager.conditionInputs, inFlight: manager.context.inFlight, isMetered: false, segments: .one,
            now: Clocks.wall(), place: { settings.placeOfPart(of: $0) })
        await #expect(throws: Undone.self) {
            try await manager.store.write { [inFlight = manager.context.inFlight] tx in
                var starting = starting
                try starting.startAll(in: tx)
                #expect(starting.starts.tasks.map(\.task.id) == [id])
                #expect(inFlight.tasks == [id])
                throw Undone()
            }
        }
        manager.context.inFlight.endPass()
        #expect(manager.context.inFlight.tasks.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func noTaskIsInFlightOnceAllHaveEnded() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 1000))
        let manager = try await fixture.open()
        try await manager.start()
        for index in 0..<20 {
            _ = try await fixture.end(of: fixture.add("/a", as: "\(index)", to: manager), in: manager)
        }
        try await eventually("none is in flight") { manager.context.inFlight.tasks.isEmpty }
        await manager.shutdown(.suspend)
    }
}

private struct Undone: Error {}
