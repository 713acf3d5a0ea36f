import XferFleet
import XferModel

/// Tasks of the fleet that the node holds, and under which id its daemon has each.
struct ClaimedTasks: Hashable, Sendable {
    private var claimKeys: [TaskID: FleetClaimKey] = [:]
    private var locals: [FleetTaskID: TaskID] = [:]

    var count: Int { claimKeys.count }
    var ids: [TaskID] { claimKeys.keys.sorted() }

    subscript(local: TaskID) -> FleetClaimKey? { claimKeys[local] }

    /// The daemon's id of a hold; nil if it is another claim's, or not there.
    func local(of claimKey: FleetClaimKey) -> TaskID? {
        guard let id = locals[claimKey.task], claimKeys[id] == claimKey else { return nil }
        return id
    }

    func local(of task: FleetTaskID) -> TaskID? { locals[task] }

    mutating func insert(_ claimKey: FleetClaimKey, as local: TaskID) {
        if let earlier = locals[claimKey.task] { claimKeys[earlier] = nil }
        claimKeys[local] = claimKey
        locals[claimKey.task] = local
    }

    @discardableResult
    mutating func remove(_ local: TaskID) -> FleetClaimKey? {
        guard let claimKey = claimKeys.removeValue(forKey: local) else { return nil }
        locals[claimKey.task] = nil
        return claimKey
    }

    mutating func removeAll() { self = ClaimedTasks() }
}
