import Testing
import XferCore
import XferModel
import XferTestSupport

/// The scheduler and the conditions of tasks against a model that asks of every task, one by one, whether it may run.
@Suite struct SchedulingModelTests {
    /// Random queues with hosts, groups, profiles, priorities, windows, dependencies, and limits that change: never more than
    /// a limit, priorities strict, order within a lane, nothing held back without reason, and every lane served in its turn.
    @Test(arguments: 1...100) func randomQueuesObeyEveryLimitAndStarveNoTask(seed: UInt64) throws {
        var world = SchedulingWorld(seed: seed)
        try world.run(rounds: 300)
        try world.drain()
    }

    @Test(arguments: [1001]) func tenThousandTasksObeyEveryLimit(seed: UInt64) throws {
        var world = SchedulingWorld(seed: seed)
        world.add(10_000)
        try world.run(rounds: 40)
        try world.drain()
    }
}

/// A queue, a scheduler, conditions, a manual clock, and what must hold whatever happens to them.
private struct SchedulingWorld {
    /// A task as the model knows it.
    private struct ModelTask {
        let lane: QueueLane
        let schedule: TaskSchedule
        var state = TaskState.waiting
        /// When its conditions have to be evaluated again.
        var again: Timestamp?
    }

    private var random: SplitMix64
    private var queue = MemoryQueue()
    private var scheduler: SchedulerStateMachine
    private var tasks: [TaskID: ModelTask] = [:]
    /// The tasks that wait for each task.
    private var dependents: [TaskID: [TaskID]] = [:]
    private var running: [TaskID: QueueLane] = [:]
    /// Tasks whose bodies have ended.
    private var publishing: Set<TaskID> = []
    private let hosts: [String]
    private let groups: [GroupKey?]
    private let profiles: [String?]
    private var lastID: Int64 = 0
    private var now = at("2026-03-02T00:00:00Z")
    /// Tasks whose conditions may have to be evaluated, by when.
    private var wakes: [Timestamp: Set<TaskID>] = [:]
    /// How often others were served since a lane was ready to be.
    private var passedOver: [QueueLane: Int] = [:]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        hosts = (0..<Int.random(in: 1...6, using: &random)).map { "host\($0)" }
        groups =
            [nil]
            + (0..<Int.random(in: 0...3, using: &random)).map {
                GroupKey(owner: Owner(uid: UInt32($0 % 2)), name: "group\($0)")
            }
        profiles = [nil] + (0..<Int.random(in: 0...2, using: &random)).map { "profile\($0)" }
        scheduler = SchedulerStateMachine(
            limits: SchedulerLimits(
                maxActive: Int.random(in: 1...8, using: &random),
                maxActivePerHost: Int.random(in: 1...4, using: &random),
                order: Bool.random(using: &random) ? .fifo : .lifo, maxPublishing: 3))
    }

    // MARK: What happens

    mutating func run(rounds: Int) throws {
        for _ in 0..<rounds {
            switch Int.random(in: 0..<14, using: &random) {
            case 0...3: add(Int.random(in: 1...4, using: &random))
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
            case 11:
                guard let profile = profiles.randomElement(using: &random) ?? nil else { continue }
                let limit = Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : nil
                scheduler.maxActiveByProfile[profile] = limit
            case 12: try advance(to: now.advanced(by: .seconds(60 * Int64.random(in: 1...600, using: &random))))
            default: scheduler.limits.maxActive = Int.random(in: 1...8, using: &random)
            }
            try startAll()
        }
        expectTruth()
    }

    /// Everything ends once nothing is paused and time goes on.
    mutating func drain() throws {
        queue.paused = []
        try startAll()
        var patience = 10 * tasks.count + 100
        while patience > 0 {
            for _ in 0..<running.count { endOne() }
            try startAll()
            // Only time can help when nothing runs.
            if running.isEmpty {
                guard let next = wakes.keys.min() else { break }
                try advance(to: max(now, next))
            }
            patience -= 1
        }
        #expect(queue.isEmpty && running.isEmpty)
        let unfinished = tasks.values.count { !$0.state.isTerminal }
        #expect(unfinished == 0, "a task waits for ever")
        #expect(scheduler.runningCount == 0)
        expectTruth()
    }

    mutating func add(_ count: Int) {
        for _ in 0..<count {
            lastID += 1
            let id = TaskID(lastID)
            let lane = QueueLane(
                priority: Priority.allCases.randomElement(using: &random) ?? .normal,
                group: groups.randomElement(using: &random) ?? nil,
                profile: profiles.randomElement(using: &random) ?? nil,
                host: hosts.randomElement(using: &random) ?? "")
            let task = ModelTask(lane: lane, schedule: someSchedule())
            for other in task.schedule.after { dependents[other, default: []].append(id) }
            tasks[id] = task
            look(at: id)
        }
    }

    private mutating func someSchedule() -> TaskSchedule {
        var schedule = TaskSchedule()
        if Int.random(in: 0..<6, using: &random) == 0 {
            schedule.notBefore = now.advanced(by: .seconds(Int64.random(in: -3600...36_000, using: &random)))
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
            let text = ["22:00-06:00", "09:30-17:00", "00:00-12:00", "18:00-24:00", "06:00-06:01"]
            let times = text.randomElement(using: &random).flatMap { DailyTimes($0) }
            let days = Weekday.allCases.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            schedule.window = TimeWindow(times: times.map { [$0] } ?? [], days: days, zone: "UTC")
        }
        if lastID > 1, Int.random(in: 0..<5, using: &random) == 0 {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let other = TaskID(Int64.random(in: max(1, lastID - 50)..<lastID, using: &random))
                if !schedule.after.contains(other) { schedule.after.append(other) }
            }
        }
        return schedule
    }

    private mutating func endOne() {
        guard let id = running.keys.sorted().randomElement(using: &random) else { return }
        let isWhole = publishing.contains(id) || Int.random(in: 0..<8, using: &random) > 0
        stop(id)
        end(id, as: isWhole ? .completed : .failed)
    }

    private mutating func stop(_ id: TaskID) {
        running[id] = nil
        publishing.remove(id)
        scheduler.onEnd(id)
    }

    private mutating func end(_ id: TaskID, as state: TaskState) {
        leaveQueue(id)
        tasks[id]?.state = state
        tasks[id]?.again = nil
        for dependent in dependents[id] ?? [] { look(at: dependent) }
    }

    /// Advances the clock from one due evaluation of a condition to the next.
    private mutating func advance(to end: Timestamp) throws {
        while let next = wakes.keys.min(), next <= end {
            now = max(now, next)
            let due = wakes.removeValue(forKey: next) ?? []
            for id in due.sorted() where tasks[id]?.again == next { look(at: id) }
            try startAll()
        }
        now = end
    }

    /// A lane without tasks waits for nothing; with its next one it joins at the end.
    private mutating func leaveQueue(_ id: TaskID) {
        queue.remove(id)
        guard let lane = tasks[id]?.lane, !queue.lanes.contains(lane) else { return }
        passedOver[lane] = nil
    }

    // MARK: Conditions, as the service evaluates them

    private mutating func look(at id: TaskID) {
        guard var task = tasks[id], !task.state.isTerminal, !task.schedule.isEmpty || task.state == .waiting else {
            return
        }
        switch StartConditions(task.schedule, zone: .utc).verdict(dependencies(of: task), at: now) {
        case .open(let until):
            task.again = until
            if task.state == .waiting {
                task.state = .queued
                queue.add(id, to: task.lane)
            }
        case .closed(_, let again):
            task.again = again
            task.state = .waiting
            leaveQueue(id)
            if running[id] != nil { stop(id) }
        case .failed:
            if running[id] != nil { stop(id) }
            return end(id, as: .failed)
        }
        tasks[id] = task
        if let again = task.again { wakes[again, default: []].insert(id) }
    }

    private func dependencies(of task: ModelTask) -> StartConditions.Dependencies {
        for other in task.schedule.after {
            if let state = tasks[other]?.state, state.isTerminal, state != .completed { return .failed(other, state) }
        }
        return task.schedule.after.allSatisfy { tasks[$0]?.state == .completed } ? .met : .open
    }

    // MARK: What has to hold

    /// Whether a task's time has come, counted out minute by minute of the day.
    private func isItsTime(_ schedule: TaskSchedule) -> Bool {
        if let notBefore = schedule.notBefore, now < notBefore { return false }
        guard let window = schedule.window else { return true }
        let (day, minute) = (now.second / 86_400, Int(now.second % 86_400 / 60))
        func mayBegin(on day: Int64) -> Bool {
            window.days.isEmpty || window.days.contains(Weekday(daysSinceEpoch: day))
        }
        return window.times.contains { times in
            let (start, end) = (times.start.minutes, times.end.minutes)
            if start < end { return mayBegin(on: day) && start <= minute && minute < end }
            return mayBegin(on: day) && minute >= start || mayBegin(on: day - 1) && minute < end
        }
    }

    /// Every task is where the model says: queued or running exactly if it may run now.
    private func expectTruth() {
        for (id, task) in tasks {
            let dependencies = task.schedule.after.map { tasks[$0]?.state }
            switch task.state {
            case .completed, .failed: #expect(running[id] == nil && !queue.contains(id))
            default:
                #expect(!dependencies.contains(.failed), "\(id) lives on although what it waited for failed")
                let mayRun = isItsTime(task.schedule) && dependencies.allSatisfy { $0 == .completed }
                #expect((queue.contains(id) || running[id] != nil) == mayRun, "\(id) at \(now): \(task)")
            }
        }
    }

    private mutating func startAll() throws {
        while true {
            let ready = readyLanes()
            guard let started = try queue.startLane(&scheduler) else {
                #expect(ready.isEmpty, "nothing starts although \(ready) may")
                return
            }
            let (id, lane) = started
            let schedule = tasks[id]?.schedule ?? TaskSchedule()
            #expect(ready[lane] == id, "\(id) of \(lane) started although it may not, or out of order")
            #expect(lane.priority == ready.keys.map(\.priority).max(), "priorities are strict")
            #expect(isItsTime(schedule) && schedule.after.allSatisfy { tasks[$0]?.state == .completed })
            running[id] = lane
            tasks[id]?.state = .running
            noteTurns(Set(ready.keys), served: lane)
        }
    }

    /// The lanes of which a task may start, and which one, said without the machine.
    private func readyLanes() -> [QueueLane: TaskID] {
        let active = running.filter { !publishing.contains($0.key) }.values
        guard active.count < scheduler.limits.maxActive ?? .max, publishing.count < scheduler.limits.maxPublishing
        else {
            return [:]
        }
        func full<Key: Hashable>(_ key: (QueueLane) -> Key?, _ limit: (Key) -> Int?) -> Set<Key> {
            let counts = Dictionary(grouping: active.compactMap(key), by: \.self).mapValues(\.count)
            return Set(counts.filter { $0.value >= limit($0.key) ?? .max }.keys)
        }
        let fullHosts = full(\.host) { _ in scheduler.limits.maxActivePerHost }
        let fullProfiles = full(\.profile) { scheduler.maxActiveByProfile[$0] }
        let fullGroups = full(\.group) { queue.limits[$0] }.union(queue.paused)
        var ready: [QueueLane: TaskID] = [:]
        for lane in queue.lanes where !fullHosts.contains(lane.host) {
            if let group = lane.group, fullGroups.contains(group) { continue }
            if let profile = lane.profile, fullProfiles.contains(profile) { continue }
            ready[lane] = queue.heads(of: lane, order: scheduler.limits.order, limit: 1).first
        }
        return ready
    }

    /// A lane that was ready each time is served before any other of its priority is served twice: it is passed over at
    /// most once by each other lane.
    private mutating func noteTurns(_ ready: Set<QueueLane>, served: QueueLane) {
        passedOver = passedOver.filter { ready.contains($0.key) || $0.key.priority != served.priority }
        for lane in ready where lane.priority == served.priority && lane != served {
            passedOver[lane, default: 0] += 1
            #expect(
                passedOver[lane, default: 0] < hosts.count * groups.count * profiles.count, "\(lane) starves")
        }
        passedOver[served] = nil
    }
}
