import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// What works through many tasks does so in transactions that are short enough to wait for.
struct StepTests {
    /// Another microsecond each time it is asked: what was done in one transaction has one time.
    private static func tickingClock() -> WallClock {
        let last = NIOLockedValueBox(Clocks.wall().rawValue)
        return {
            last.withLockedValue { last in
                last += 1
                return Timestamp(rawValue: last)
            }
        }
    }

    private static func add(
        _ count: Int, to manager: TransferManager, _ fixture: ManagerFixture, startsPaused: Bool,
        sharesOne: Bool = false
    ) async throws {
        let directory = fixture.downloads
        let drafts = (0..<count).map { index in
            TaskDraft(url: fixture.server.url(sharesOne ? "/one" : "/\(index)")) { request in
                TaskSpecification(
                    owner: ManagerFixture.caller.owner, request: request,
                    destination: Destination(directory: directory, name: "\(index)"), startsPaused: startsPaused)
            }
        }
        _ = try await manager.tasks.add(drafts, for: ManagerFixture.caller)
    }

    @Test func aVerbOverManyTasksIsSeveralShortTransactions() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(clock: Self.tickingClock())
        let count = 2 * StoreTransaction.largestStepAlike + 1
        try await Self.add(count, to: manager, fixture, startsPaused: true)
        let outcome = try await manager.tasks.apply(
            .cancel, to: TaskQuery(states: [.paused]), for: ManagerFixture.caller)
        #expect(outcome.changedCount == count)
        let filter = EventFilter(types: [.taskCancelled])
        guard case .events(let events, _) = try await manager.queries.events(since: 0, filter, limit: count + 1) else {
            Issue.record("events are gone")
            return
        }
        let transactions = Dictionary(grouping: events, by: \.time).mapValues(\.count)
        // How many depends on the machine.
        #expect(transactions.values.allSatisfy { $0 <= StoreTransaction.largestStepAlike })
        #expect(transactions.count >= 3 && transactions.values.reduce(0, +) == count)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [false, true]) func aPassMakesNoMoreThanAStepOfTransfersAndContinues(sharesOne: Bool) async throws
    {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.queue.pause(stopsRunning: false)
        let count = 2 * StoreTransaction.largestStep + 1
        try await Self.add(count, to: manager, fixture, startsPaused: false, sharesOne: sharesOne)
        let limits = SchedulerLimits(maxActive: 1000, maxActivePerHost: 1000)
        let settings = manager.context.settings.withLockedValue(\.self)
        let passes = try await manager.store.write { [inputs = manager.conditionInputs] tx in
            var scheduler = SchedulerStateMachine(limits: limits)
            var live: [TransferID: SchedulingPass.Live] = [:]
            var passes: [Int] = []
            while true {
                var starting = SchedulingPass(
                    scheduler: scheduler, live: live, isSharedBetweenOwners: false, inputs: inputs,
                    inFlight: InFlightTasks(), isMetered: false, segments: .one, now: Clocks.wall(),
                    place: { settings.placeOfPart(of: $0) })
                try starting.startAll(in: tx)
                passes.append(starting.starts.tasks.count)
                scheduler = starting.scheduler
                live = starting.live
                guard starting.starts.isIncomplete, passes.count < 9 else { return passes }
            }
        }
        // Those who share a request start with it, or some would come too late.
        #expect(passes == (sharesOne ? [count] : [StoreTransaction.largestStep, StoreTransaction.largestStep, 1]))
        await manager.shutdown(.suspend)
    }
}
