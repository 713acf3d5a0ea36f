import XferFleet
import XferModel

/// Tasks of the fleet that the node holds, and under which id its daemon has each.
struct HeldTasks: Hashable, Sendable {
    private var holds: [TaskID: FleetHold] = [:]
    private var locals: [FleetTaskID: TaskID] = [:]

    var count: Int { holds.count }
    var ids: [TaskID] { holds.keys.sorted() }

    subscript(local: TaskID) -> FleetHold? { holds[local] }

    /// The daemon's id of a hold; nil if it is another claim's, or not there.
    func local(of hold: FleetHold) -> TaskID? {
        guard let id = locals[hold.task], holds[id] == hold else { return nil }
        return id
    }

    func local(of task: FleetTaskID) -> TaskID? { locals[task] }

    mutating func insert(_ hold: FleetHold, as local: TaskID) {
        if let earlier = locals[hold.task] { holds[earlier] = nil }
        holds[local] = hold
        locals[hold.task] = local
    }

    @discardableResult
    mutating func remove(_ local: TaskID) -> FleetHold? {
        guard let hold = holds.removeValue(forKey: local) else { return nil }
        locals[hold.task] = nil
        return hold
    }

    mutating func removeAll() { self = HeldTasks() }
}
