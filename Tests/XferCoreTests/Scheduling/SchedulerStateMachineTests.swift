import Testing
import XferCore
import XferModel
import XferTestSupport

@Suite struct SchedulerStateMachineTests {
    @Test func neverMoreTasksThanTheLimitsRun() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 4))
        for id in 1...40 { queue.add(id, host: id.isMultiple(of: 3) ? "b" : "a") }
        var random = SplitMix64(seed: 1)
        var running: [TaskID: String] = [:]
        var served = 0
        while served < 40 {
            while let started = try queue.start(&scheduler) { running[started.id] = started.host }
            #expect(running.count <= 6)
            #expect(Dictionary(grouping: running.values, by: \.self).values.allSatisfy { $0.count <= 4 })
            #expect(scheduler.activeCount == running.count)
            guard let ended = running.keys.randomElement(using: &random) else { break }
            running[ended] = nil
            scheduler.onEnd(ended)
            served += 1
        }
        #expect(served == 40)
        #expect(queue.isEmpty)
    }

    @Test func higherPrioritiesAlwaysStartFirst() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 1))
        queue.add(1, host: "a", priority: .low)
        queue.add(2, host: "a", priority: .normal)
        queue.add(3, host: "b", priority: .high)
        queue.add(4, host: "a", priority: .high)
        #expect(try queue.runAll(&scheduler) == [3, 4, 2, 1])
    }

    @Test func aHostWithManyTasksDoesNotStarveOtherHosts() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 1))
        for id in 1...1000 { queue.add(id, host: "big") }
        queue.add(1001, host: "small")
        queue.add(1002, host: "tiny")
        let order = try queue.runAll(&scheduler)
        #expect(Array(order.prefix(3)) == [1, 1001, 1002])
        #expect(order.count == 1002)
    }

    @Test func aBlockedHostIsPassedOver() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 10, maxActivePerHost: 2))
        for id in 1...5 { queue.add(id, host: "a") }
        queue.add(6, host: "b")
        var started: [Int64] = []
        while let task = try queue.start(&scheduler) { started.append(task.id.rawValue) }
        #expect(Set(started) == [1, 2, 6])
    }

    /// Paused and resumed at once: the task is queued again before its run has ended.
    @Test func aTaskWhoseRunIsEndingIsNotStartedTwice() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 4))
        queue.add(1, host: "a")
        let first = try #require(try queue.start(&scheduler))
        queue.add(1, host: "a")
        queue.add(2, host: "b")
        #expect(try queue.start(&scheduler)?.id == TaskID(2))
        #expect(try queue.start(&scheduler) == nil)
        scheduler.onBodyEnd(first.id)
        #expect(try queue.start(&scheduler) == nil)
        scheduler.onEnd(first.id)
        #expect(try queue.start(&scheduler)?.id == TaskID(1))
    }

    /// queue.md: with max 1, seven tasks 1–7 added in one call, and 8–14 in one call while 7 runs: 7, 14 … 8, 6 … 1.
    @Test func lifoHoldsAlsoForTasksAddedMeanwhile() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 1, order: .lifo))
        for id in 1...7 { queue.add(id, host: "a") }
        let first = try #require(try queue.start(&scheduler))
        for id in 8...14 { queue.add(id, host: "a") }
        #expect(first.id == TaskID(7))
        scheduler.onEnd(first.id)
        #expect(try queue.runAll(&scheduler) == [14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2, 1])
    }

    @Test(arguments: [SchedulerStateMachine.Hold.pausedByOperator, .degraded, .waking])
    func aHoldKeepsEveryTaskFromStarting(hold: SchedulerStateMachine.Hold) throws {
        var queue = MemoryQueue()
        queue.add(1, host: "a")
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        scheduler.holds = [hold]
        #expect(try queue.start(&scheduler) == nil)
        scheduler.holds = []
        #expect(try queue.start(&scheduler)?.id == TaskID(1))
    }

    /// Paused and resumed at once: the row is queued again while the old run still stops.
    @Test func aTaskWhoseRunIsStillStoppingIsPassedOver() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 3))
        queue.add(1, host: "a")
        let first = try #require(try queue.start(&scheduler))
        queue.add(1, host: "a")
        #expect(try queue.start(&scheduler) == nil)
        queue.add(2, host: "a")
        queue.add(3, host: "b")
        #expect(try queue.start(&scheduler)?.id == TaskID(2))
        #expect(try queue.start(&scheduler)?.id == TaskID(3))
        scheduler.onEnd(first.id)
        #expect(try queue.start(&scheduler)?.id == TaskID(1))
    }

    @Test func publishingFreesTheSlotButIsBounded() throws {
        var queue = MemoryQueue()
        for id in 1...5 { queue.add(id, host: "a") }
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 1, maxPublishing: 2))
        for _ in 0..<2 {
            let task = try #require(try queue.start(&scheduler))
            scheduler.onBodyEnd(task.id)
        }
        #expect(scheduler.activeCount == 0)
        #expect(scheduler.runningCount == 2)
        #expect(try queue.start(&scheduler) == nil)
        scheduler.onEnd(TaskID(1))
        #expect(try queue.start(&scheduler)?.id == TaskID(3))
    }

    @Test func whatKeepsEveryTaskFromStartingIsNamed() throws {
        var queue = MemoryQueue()
        for id in 1...2 { queue.add(id, host: "a") }
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 2, maxPublishing: 1))
        let lane = QueueLane(priority: .normal, host: "b")
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == nil)
        scheduler.holds = [.degraded]
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == .storage)
        scheduler.holds.insert(.pausedByOperator)
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == .queuePaused)
        scheduler.holds = []
        // Without a running task, each may start: if it lacks descriptors then, it waits.
        scheduler.lacksDescriptors = true
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == nil)
        let first = try #require(try queue.start(&scheduler))
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == .outOfDescriptors)
        // The pass decides by each task's own need.
        #expect(scheduler.mayStart(lane, groupLimit: nil))
        scheduler.lacksDescriptors = false
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == nil)
        scheduler.onBodyEnd(first.id)
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == .queueFull)
        #expect(!scheduler.mayStart(lane, groupLimit: nil))
        scheduler.onEnd(first.id)
        #expect(scheduler.obstacle(to: lane, groupLimit: nil) == nil)
    }

    /// SDWebImageDownloader: `maxConcurrentDownloads` is 6, `currentDownloadCount` never beyond it.
    @Test func neverMoreThanSixOfTwentyTasksRun() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 20))
        for id in 1...20 { queue.add(id, host: "a") }
        var running: [TaskID] = []
        var most = 0
        var served: [TaskID] = []
        while served.count < 20 {
            while let task = try queue.start(&scheduler) { running.append(task.id) }
            most = max(most, running.count)
            #expect(scheduler.activeCount == running.count)
            let ended = try #require(running.first)
            running.removeFirst()
            scheduler.onEnd(ended)
            served.append(ended)
        }
        #expect(most == 6)
        #expect(served.map(\.rawValue) == Array(1...20))
    }
}

/// Tasks that share a transfer take one slot.
struct SharedSlotTests {
    private static let lane = QueueLane(priority: .normal, host: "a")

    @Test func aTransferHoldsOneSlotForAllItsTasks() {
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 1, maxActivePerHost: 1))
        for id in 1...5 { scheduler.onStart(TaskID(Int64(id)), of: TransferID(1), from: Self.lane) }
        #expect(scheduler.activeCount == 1 && scheduler.runningCount == 5 && scheduler.isBlocked("a"))
        // The transfer keeps its slot until its last task has ended.
        for id in 1...4 { scheduler.onEnd(TaskID(Int64(id))) }
        #expect(scheduler.activeCount == 1 && scheduler.runningCount == 1)
        scheduler.onEnd(TaskID(5))
        #expect(scheduler.activeCount == 0 && scheduler.runningCount == 0 && !scheduler.isBlocked("a"))
    }

    @Test func theEndOfTheBodyFreesTheSlotForAllTasks() {
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
        for id in 1...3 { scheduler.onStart(TaskID(Int64(id)), of: TransferID(1), from: Self.lane) }
        scheduler.onBodyEnd(TransferID(1))
        scheduler.onBodyEnd(TransferID(1))
        #expect(scheduler.activeCount == 0 && scheduler.runningCount == 3)
        // A task that starts now takes a slot until its body has ended.
        scheduler.onStart(TaskID(4), of: TransferID(1), from: Self.lane)
        #expect(scheduler.activeCount == 1)
        scheduler.onBodyEnd(TransferID(1))
        for id in 1...4 { scheduler.onEnd(TaskID(Int64(id))) }
        #expect(scheduler.activeCount == 0 && scheduler.runningCount == 0)
    }
}
