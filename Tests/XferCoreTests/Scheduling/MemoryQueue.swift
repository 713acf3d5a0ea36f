import XferCore
import XferModel

/// The queue in memory, as a second statement of what the store's index does: it walks everything.
struct MemoryQueue: QueueIndex {
    private struct Entry {
        let id: TaskID
        let lane: QueueLane
    }

    private var entries: [Entry] = []
    private var lastServed: [QueueLane: Int] = [:]
    private var turn = 0
    var limits: [GroupKey: Int] = [:]
    var paused: Set<GroupKey> = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    mutating func add(_ id: Int, host: String, group: GroupKey? = nil, priority: Priority = .normal) {
        let lane = QueueLane(priority: priority, group: group, host: host)
        // A lane that is new, or new again, joins at the end.
        if !entries.contains(where: { $0.lane == lane }) {
            turn += 1
            lastServed[lane] = turn
        }
        entries.append(Entry(id: TaskID(Int64(id)), lane: lane))
    }

    func maxActive(of group: GroupKey) -> Int? { limits[group] }

    func nextLane(
        priority: Priority, withoutGroups groups: Set<GroupKey>, withoutHosts hosts: Set<String>
    ) -> QueueLane? {
        let lanes = Set(entries.map(\.lane)).filter { lane in
            guard lane.priority == priority, !hosts.contains(lane.host) else { return false }
            return lane.group.map { !groups.contains($0) && !paused.contains($0) } ?? true
        }
        return lanes.min { lastServed[$0, default: 0] < lastServed[$1, default: 0] }
    }

    func heads(of lane: QueueLane, order: QueueOrder, limit: Int) -> [TaskID] {
        let candidates = entries.filter { $0.lane == lane }.map(\.id).sorted()
        return Array((order == .fifo ? candidates : candidates.reversed()).prefix(limit))
    }

    func lane(of id: TaskID) -> QueueLane? { entries.first { $0.id == id }?.lane }
    var lanes: Set<QueueLane> { Set(entries.map(\.lane)) }

    /// Starts what the scheduler picks and takes it out of the queue.
    mutating func start(_ scheduler: inout SchedulerStateMachine) throws -> (id: TaskID, host: String)? {
        guard let started = try startLane(&scheduler) else { return nil }
        return (started.id, started.lane.host)
    }

    mutating func startLane(_ scheduler: inout SchedulerStateMachine) throws -> (id: TaskID, lane: QueueLane)? {
        guard let id = try scheduler.next(in: self), let index = entries.firstIndex(where: { $0.id == id }) else {
            return nil
        }
        let lane = entries.remove(at: index).lane
        turn += 1
        lastServed[lane] = turn
        scheduler.onStart(id, host: lane.host, group: lane.group)
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
    mutating func onStart(_ task: TaskID, host: String, group: GroupKey?) {
        onStart(task, of: TransferID(task.rawValue), host: host, group: group)
    }

    mutating func onBodyEnd(_ task: TaskID) { onBodyEnd(TransferID(task.rawValue)) }
}
