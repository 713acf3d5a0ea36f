import Testing
import XferCore
import XferModel
import XferTestSupport

/// Groups: paused, limited, and never in the way of others.
@Suite struct GroupSchedulingTests {
    private static func key(_ name: String) -> GroupKey { GroupKey(owner: Owner(uid: 1), name: name) }

    @Test func aGroupObeysItsLimitBesideAnUnchangedGlobalLimit() throws {
        var queue = MemoryQueue()
        queue.limits = [Self.key("g"): 2]
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 6))
        for id in 1...20 { queue.add(id, host: "a", group: Self.key("g")) }
        for id in 21...40 { queue.add(id, host: "a") }
        var groups: [GroupKey?] = []
        while let started = try queue.startLane(&scheduler) { groups.append(started.lane.group) }
        #expect(groups.count == 6 && groups.count { $0 != nil } == 2)
        #expect(scheduler.activeCount(of: Self.key("g")) == 2)
    }

    @Test func aPausedGroupIsPassedOverUntilItIsResumed() throws {
        var queue = MemoryQueue()
        queue.paused = [Self.key("g")]
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 1))
        queue.add(1, host: "a", group: Self.key("g"), priority: .high)
        queue.add(2, host: "a")
        queue.add(3, host: "a", group: Self.key("h"))
        #expect(try queue.runAll(&scheduler) == [2, 3])
        queue.paused = []
        #expect(try queue.runAll(&scheduler) == [1])
    }

    /// What is set for a group holds from the next pick; what runs above it goes on.
    @Test func aLoweredLimitStartsNothingUntilEnoughTasksEnded() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 6))
        for id in 1...9 { queue.add(id, host: "a", group: Self.key("g")) }
        for _ in 1...4 { #expect(try queue.start(&scheduler) != nil) }
        queue.limits = [Self.key("g"): 2]
        for id in 1...2 {
            #expect(try queue.start(&scheduler) == nil)
            scheduler.onEnd(TaskID(Int64(id)))
        }
        #expect(try queue.start(&scheduler) == nil)
        scheduler.onBodyEnd(TaskID(3))
        #expect(try queue.start(&scheduler)?.id == TaskID(5))
        #expect(try queue.start(&scheduler) == nil)
    }

    @Test func aTaskMovedToAnotherGroupCountsThere() throws {
        var queue = MemoryQueue()
        queue.limits = [Self.key("g"): 1, Self.key("h"): 1]
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 6))
        queue.add(1, host: "a", group: Self.key("g"))
        queue.add(2, host: "a", group: Self.key("g"))
        queue.add(3, host: "a", group: Self.key("h"))
        #expect(try queue.start(&scheduler)?.id == TaskID(1))
        scheduler.onRegroup(TaskID(1), group: Self.key("h"))
        #expect(try queue.start(&scheduler)?.id == TaskID(2))
        #expect(try queue.start(&scheduler) == nil)
        #expect(scheduler.activeCount(of: Self.key("h")) == 1)
        scheduler.onRegroup(TaskID(1), group: nil)
        #expect(try queue.start(&scheduler)?.id == TaskID(3))
        scheduler.onRegroup(TaskID(9), group: nil)
    }

    /// A profile's limit is over all groups and hosts of its tasks.
    @Test func aProfileKeepsItsLimitAcrossGroupsAndHosts() throws {
        var queue = MemoryQueue()
        var scheduler = SchedulerStateMachine(limits: SchedulerLimits(maxActive: 6, maxActivePerHost: 6))
        scheduler.maxActiveByProfile = ["api": 2]
        for id in 1...6 {
            queue.add(id, host: "h\(id % 3)", group: id.isMultiple(of: 2) ? Self.key("g") : nil, profile: "api")
        }
        queue.add(7, host: "h0", profile: "other")
        queue.add(8, host: "h0")
        var started: [QueueLane] = []
        while let next = try queue.startLane(&scheduler) { started.append(next.lane) }
        #expect(started.count { $0.profile == "api" } == 2 && started.count == 4)
        #expect(scheduler.activeCount(ofProfile: "api") == 2 && scheduler.activeCount(ofProfile: "other") == 1)
        scheduler.maxActiveByProfile = ["api": 3]
        #expect(try queue.startLane(&scheduler)?.lane.profile == "api")
        #expect(try queue.startLane(&scheduler) == nil)
        scheduler.maxActiveByProfile = [:]
        #expect(try queue.startLane(&scheduler)?.lane.profile == "api")
    }
}
