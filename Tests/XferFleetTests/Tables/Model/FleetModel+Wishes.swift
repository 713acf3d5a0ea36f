import XferCore
import XferModel

extension FleetModel {
    /// Judges a wish, and applies or keeps it.
    mutating func wish(_ wish: FleetWish, by caller: WishRules.Caller, for id: Int64) -> WishRules.Verdict {
        guard let task = tasks[id] else { return .noSuchTask }
        let verdict = WishRules.judge(
            wish, by: caller, owner: task.lane.owner, place: task.lane.place, state: task.state,
            isCancelling: task.isCancelling, mayBePublished: !task.permits.isSubset(of: task.cancelling))
        switch verdict {
        case .deliver where task.state != .leased:
            tasks[id]?.cancelling.formUnion(task.permits)
            if task.state == .paused { enqueue(id, toHead: true) }
        case .deliver:
            tasks[id]?.wishes.append(wish)
            if wish == .cancel { tasks[id]?.isCancelling = true }
            if case .priority(let priority) = wish { tasks[id]?.lane.priority = priority }
        case .apply: apply(wish, to: task)
        case .nothingToDo, .noSuchTask, .wrongState: break
        }
        return verdict
    }

    private mutating func apply(_ wish: FleetWish, to task: Task) {
        let id = task.id
        switch wish {
        case .pause: pause(id)
        case .cancel: end(id, .cancelled)
        case .remove: tasks[id] = nil
        case .retry:
            tasks[id]?.runs = 0
            enqueue(id, toHead: false)
        case .resume:
            if task.isDelayed { tasks[id]?.state = .delayed } else { enqueue(id, toHead: false) }
        case .reorder(let end): enqueue(id, toHead: end == .top)
        case .move(let place):
            tasks[id]?.lane.place = place
            tasks[id]?.declined = []
            if task.state == .queued { enqueue(id, toHead: false) }
        case .priority(let priority):
            tasks[id]?.lane.priority = priority
            if task.state == .queued { enqueue(id, toHead: false) }
        case .limits: break
        }
    }

    /// A release by the node that holds the task.
    mutating func release(_ id: Int64, toPause isPause: Bool = false, movedTo place: FleetPlace? = nil, declines: Bool)
    {
        guard let task = tasks[id] else { return }
        returnPermit(id)
        if task.isCancelling {
            end(id, .cancelled)
        } else if isPause {
            pause(id)
        } else {
            if let place {
                tasks[id]?.lane.place = place
                tasks[id]?.declined = []
            }
            if declines, let node = task.node { tasks[id]?.declined.insert(node) }
            enqueue(id, toHead: true)
        }
    }
}
