import Testing
import XferCore
import XferModel
import XferTestSupport

/// Groups: paused, limited, and never in the way of others.
@Suite struct GroupSchedulingTests {
    private static func key(_ name: String) -> GroupKey { GroupKey(owner: Owner(uid: 1), name: name) }

    @Test func aGroupKeepsItsLimitAndTheGlobalOneStaysWhatItIs() throws {
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

    @Test func aPausedGroupIsPassedOverAndComesBack() throws {
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
    @Test func aLoweredLimitStartsNothingUntilEnoughHasEnded() throws {
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

    @Test func whatIsPutIntoAnotherGroupCountsThere() throws {
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

    /// Random queues with hosts, groups, priorities and limits that change: never more than a limit, priorities strict,
    /// order within a lane, nothing held back without reason, and every lane served in its turn.
    @Test(arguments: 1...60) func randomQueuesKeepEveryLimitAndStarveNobody(seed: UInt64) throws {
        var world = SchedulingWorld(seed: seed)
        try world.run(rounds: 400)
        try world.drain()
    }
}

/// A queue, a scheduler, and what must hold whatever happens to them.
private struct SchedulingWorld {
    private var random: SplitMix64
    private var queue = MemoryQueue()
    private var scheduler: SchedulerStateMachine
    private var running: [TaskID: QueueLane] = [:]
    /// Whose bodies have ended.
    private var publishing: Set<TaskID> = []
    private let hosts: [String]
    private let groups: [GroupKey?]
    private var lastID = 0
    /// How often others were served since a lane was ready to be.
    private var passedOver: [QueueLane: Int] = [:]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        hosts = (0..<Int.random(in: 1...8, using: &random)).map { "host\($0)" }
        groups =
            [nil]
            + (0..<Int.random(in: 0...5, using: &random)).map {
                GroupKey(owner: Owner(uid: UInt32($0 % 2)), name: "group\($0)")
            }
        scheduler = SchedulerStateMachine(
            limits: SchedulerLimits(
                maxActive: Int.random(in: 1...8, using: &random),
                maxActivePerHost: Int.random(in: 1...4, using: &random),
                order: Bool.random(using: &random) ? .fifo : .lifo, maxPublishing: 3))
    }

    mutating func run(rounds: Int) throws {
        for _ in 0..<rounds {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: for _ in 0..<Int.random(in: 1...4, using: &random) { add() }
            case 4...7: endOne()
            case 8:
                if let id = running.keys.filter({ !publishing.contains($0) }).sorted().randomElement(using: &random) {
                    scheduler.onBodyEnd(id)
                    publishing.insert(id)
                }
            case 9:
                guard let group = groups.randomElement(using: &random) ?? nil else { continue }
                queue.limits[group] = Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : nil
            case 10:
                guard let group = groups.randomElement(using: &random) ?? nil else { continue }
                if queue.paused.remove(group) == nil { queue.paused.insert(group) }
            default: scheduler.limits.maxActive = Int.random(in: 1...8, using: &random)
            }
            try startAll()
        }
    }

    /// Everything runs in the end once nothing is paused.
    mutating func drain() throws {
        queue.paused = []
        try startAll()
        var patience = queue.count + running.count + 1
        while !running.isEmpty, patience > 0 {
            endOne()
            try startAll()
            patience -= 1
        }
        #expect(queue.isEmpty && running.isEmpty)
        #expect(scheduler.runningCount == 0)
    }

    private mutating func add() {
        lastID += 1
        queue.add(
            lastID, host: hosts.randomElement(using: &random) ?? "", group: groups.randomElement(using: &random) ?? nil,
            priority: Priority.allCases.randomElement(using: &random) ?? .normal)
    }

    private mutating func endOne() {
        guard let id = running.keys.sorted().randomElement(using: &random) else { return }
        running[id] = nil
        publishing.remove(id)
        scheduler.onEnd(id)
    }

    private var active: [QueueLane] { running.filter { !publishing.contains($0.key) }.map(\.value) }

    /// Whether a task of this lane may start, said without the machine.
    private func mayStart(_ lane: QueueLane) -> Bool {
        let active = active
        guard active.count < scheduler.limits.maxActive, publishing.count < scheduler.limits.maxPublishing else {
            return false
        }
        guard active.count(where: { $0.host == lane.host }) < scheduler.limits.maxActivePerHost else { return false }
        guard let group = lane.group else { return true }
        guard !queue.paused.contains(group) else { return false }
        return active.count { $0.group == group } < queue.limits[group] ?? .max
    }

    private mutating func startAll() throws {
        while true {
            let ready = queue.lanes.filter(mayStart)
            let heads = Dictionary(
                uniqueKeysWithValues: ready.map {
                    ($0, queue.heads(of: $0, order: scheduler.limits.order, limit: 1).first)
                })
            guard let started = try queue.startLane(&scheduler) else {
                #expect(ready.isEmpty, "nothing starts although \(ready) may")
                return
            }
            #expect(ready.contains(started.lane), "\(started.lane) started although it may not")
            #expect(started.lane.priority == ready.map(\.priority).max(), "priorities are strict")
            #expect(heads[started.lane] == started.id, "out of order within its lane")
            running[started.id] = started.lane
            noteTurns(ready, served: started.lane)
        }
    }

    /// A lane that was ready each time is served before any other of its priority is served twice: it is passed over at
    /// most once by each other lane.
    private mutating func noteTurns(_ ready: Set<QueueLane>, served: QueueLane) {
        passedOver = passedOver.filter { ready.contains($0.key) || $0.key.priority != served.priority }
        for lane in ready where lane.priority == served.priority && lane != served {
            passedOver[lane, default: 0] += 1
            #expect(passedOver[lane, default: 0] < hosts.count * groups.count, "\(lane) starves")
        }
        passedOver[served] = nil
    }
}
