import XferCore
import XferModel

/// The queue in memory, as a second statement of what the store's index does: it walks all lanes.
struct MemoryQueue: QueueIndex {
    /// By lane, in the order of ids; a lane without tasks is not there.
    private var ids: [QueueLane: [TaskID]] = [:]
    private var laneByTask: [TaskID: QueueLane] = [:]
    private var lastServed: [QueueLane: Int] = [:]
    private var turn = 0
    var limits: [GroupKey: Int] = [:]
    var paused: Set<GroupKey> = []

    var isEmpty: Bool { ids.isEmpty }
    var count: Int { laneByTask.count }

    mutating func add(
        _ id: Int, host: String, group: GroupKey? = nil, profile: String? = nil, priority: Priority = .normal
    ) {
        add(TaskID(Int64(id)), to: QueueLane(priority: priority, group: group, profile: profile, host: host))
    }

    mutating func add(_ id: TaskID, to lane: QueueLane) {
        // A lane that is new, or new again, joins at the end.
        if ids[lane] == nil {
            turn += 1
            lastServed[lane] = turn
        }
        var entries = ids[lane] ?? []
        entries.insert(id, at: entries.lastIndex { $0 < id }.map { $0 + 1 } ?? 0)
        ids[lane] = entries
        laneByTask[id] = lane
    }

    mutating func remove(_ id: TaskID) {
        guard let lane = laneByTask.removeValue(forKey: id) else { return }
        ids[lane]?.removeAll { $0 == id }
        if ids[lane]?.isEmpty == true { ids[lane] = nil }
    }

    func contains(_ id: TaskID) -> Bool { laneByTask[id] != nil }
    var lanes: Set<QueueLane> { Set(ids.keys) }

    // MARK: QueueIndex

    func maxActive(of group: GroupKey) -> Int? { limits[group] }

    func nextLane(priority: Priority, without excluded: LaneExclusions) -> QueueLane? {
        ids.keys.filter { lane in
            guard lane.priority == priority, !excluded.hosts.contains(lane.host) else { return false }
            if let profile = lane.profile, excluded.profiles.contains(profile) { return false }
            return lane.group.map { !excluded.groups.contains($0) && !paused.contains($0) } ?? true
        }.min { lastServed[$0, default: 0] < lastServed[$1, default: 0] }
    }

    func heads(of lane: QueueLane, order: QueueOrder, limit: Int) -> [TaskID] {
        let entries = ids[lane] ?? []
        return order == .fifo ? Array(entries.prefix(limit)) : entries.suffix(limit).reversed()
    }

    // MARK: Starting

    /// Starts what the scheduler picks and takes it out of the queue.
    mutating func start(_ scheduler: inout SchedulerStateMachine) throws -> (id: TaskID, host: String)? {
        guard let started = try startLane(&scheduler) else { return nil }
        return (started.id, started.lane.host)
    }

    mutating func startLane(_ scheduler: inout SchedulerStateMachine) throws -> (id: TaskID, lane: QueueLane)? {
        guard let id = try scheduler.next(in: self), let lane = laneByTask[id] else { return nil }
        remove(id)
        turn += 1
        lastServed[lane] = turn
        scheduler.onStart(id, of: TransferID(id.rawValue), from: lane)
        return (id, lane)
    }

    /// Starts and ends one task after another; the order in which they ran.
    mutating func runAll(_ scheduler: inout SchedulerStateMachine) throws -> [Int64] {
        var order: [Int64] = []
        while let task = try start(&scheduler) {
            order.append(task.id.rawValue)
            scheduler.onEnd(task.id)
        }
        return order
    }
}

/// Each task with a transfer of its own.
extension SchedulerStateMachine {
    mutating func onBodyEnd(_ task: TaskID) { onBodyEnd(TransferID(task.rawValue)) }
}
