import XferCore
import XferModel

/// The rules of a fleet by brute force: lists that are searched from end to end, no indices, no counts.
struct FleetModel {
    struct Lane: Hashable {
        var priority: Priority
        let owner: String
        let group: String?
        let host: String
        var place: FleetPlace
    }

    /// Names a group: owner and name.
    struct Group: Hashable {
        let owner: String
        let name: String
    }

    struct Task {
        let id: Int64
        var lane: Lane
        let isRepeatable: Bool
        /// Its `not_before` has not come.
        var isDelayed = false
        var state: FleetTaskState
        /// Orders queued tasks of one lane.
        var rank = 0
        var claim: String?
        var node: String?
        var hasBegun = false
        var isCancelling = false
        var declined: Set<String> = []
        var wishes: [FleetWish] = []
        /// Claims that had a permit to publish and were taken over, and the present one if it has a permit.
        var permits: Set<String> = []
        /// Those of them after which the task is cancelled unless its file is found.
        var cancelling: Set<String> = []
        /// How often its request may have been made since it was added or retried.
        var runs = 0
    }

    struct Node {
        let labels: Set<String>
        var storages: Set<String> = []
        var isDown = false
        var isDraining = false
    }

    var tasks: [Int64: Task] = [:]
    var nodes: [String: Node] = [:]
    var hostLimits: [String: Int] = [:]
    var ownerLimits: [String: Int] = [:]
    var groupLimits: [Group: Int] = [:]
    var pausedGroups: Set<Group> = []
    private var head = 0
    private var tail = 0

    /// By id, so that random choices depend on the seed alone.
    var sorted: [Task] { tasks.values.sorted { $0.id < $1.id } }

    func tasks(of node: String) -> [Task] { sorted.filter { $0.state == .leased && $0.node == node } }

    mutating func add(_ task: Task, toHead: Bool = false) {
        tasks[task.id] = task
        if task.state == .queued { enqueue(task.id, toHead: toHead) }
    }

    mutating func enqueue(_ id: Int64, toHead: Bool) {
        tasks[id]?.state = .queued
        tasks[id]?.claim = nil
        tasks[id]?.node = nil
        tasks[id]?.hasBegun = false
        tasks[id]?.isCancelling = false
        tasks[id]?.wishes = []
        if toHead {
            head -= 1
            tasks[id]?.rank = head
        } else {
            tail += 1
            tasks[id]?.rank = tail
        }
    }

    /// Keeps the order of the ids.
    mutating func enqueueAtHead(_ ids: [Int64]) { for id in ids.reversed() { enqueue(id, toHead: true) } }

    mutating func end(_ id: Int64, _ ending: FleetEnding) {
        returnPermit(id)
        tasks[id]?.state = ending.state
        tasks[id]?.claim = nil
        tasks[id]?.wishes = []
        tasks[id]?.declined = []
    }

    /// The node that reports has settled what it was permitted to publish.
    mutating func returnPermit(_ id: Int64) { if let claim = tasks[id]?.claim { tasks[id]?.permits.remove(claim) } }

    /// Whether a node that claims the task is to end it without a file, once it has looked.
    func isCancelled(_ id: Int64) -> Bool { tasks[id].map { !$0.permits.isDisjoint(with: $0.cancelling) } ?? false }

    mutating func pause(_ id: Int64) {
        returnPermit(id)
        tasks[id]?.state = .paused
        tasks[id]?.claim = nil
        tasks[id]?.node = nil
        tasks[id]?.hasBegun = false
        tasks[id]?.wishes = []
    }

    /// Whether this claim is still the task's.
    func holds(_ id: Int64, _ claim: String) -> Bool {
        tasks[id].map { $0.state == .leased && $0.claim == claim } ?? false
    }

    /// The verdicts on a node's leases, applied.
    mutating func takeOver(_ node: String, _ cause: TakeoverRules.Cause, only: Set<Int64>? = nil) {
        var queued: [Int64] = []
        for task in tasks(of: node) where only?.contains(task.id) ?? true {
            let verdict = TakeoverRules.judge(
                cause, place: task.lane.place, isRepeatable: task.isRepeatable, hasBegun: task.hasBegun,
                isCancelling: task.isCancelling, isPublishing: task.claim.map(task.permits.contains) ?? false)
            if let claim = task.claim, task.isCancelling, task.permits.contains(claim) {
                tasks[task.id]?.cancelling.insert(claim)
            }
            switch verdict {
            case .keep: break
            case .queue: queued.append(task.id)
            case .end(let ending): end(task.id, ending)
            }
        }
        enqueueAtHead(queued)
    }
}
