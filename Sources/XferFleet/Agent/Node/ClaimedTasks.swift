import XferModel

/// The tasks that the node has claimed, with their ids in its daemon.
struct ClaimedTasks: Hashable, Sendable {
    private var claimKeys: [TaskID: FleetClaimKey] = [:]
    private var locals: [FleetTaskID: TaskID] = [:]

    var count: Int { claimKeys.count }
    var ids: [TaskID] { claimKeys.keys.sorted() }

    subscript(local: TaskID) -> FleetClaimKey? { claimKeys[local] }

    /// The daemon's id of a claimed task; nil if it is another claim's, or missing.
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
