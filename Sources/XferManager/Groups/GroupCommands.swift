public import XferModel
import XferStore

/// `group.*`: tasks that are paused, limited and counted together. Every owner has its own groups.
///
/// A group exists as long as it has tasks or settings. The settings are one row, so changing them costs no more for a
/// group of 100,000 tasks.
public struct GroupCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler
    let queue: QueueControl

    /// Lists the groups after `after`, in the order of owner and name. An operator sees the groups of all owners.
    public func list(after: GroupKey?, limit: Int, for principal: Principal) async throws -> [TaskGroup] {
        return try await store.readStates {
            try $0.groups.list(owner: principal.visibleOwner, after: after, limit: limit)
        }
    }

    /// Returns a group.
    ///
    /// - Parameter owner: the group's owner; nil is the caller.
    public func get(_ name: String, of owner: Owner?, for principal: Principal) async throws -> TaskGroup {
        let key = try groupKey(name, of: owner, for: principal)
        guard let group = try await store.readStates({ try $0.groups.find(key) }) else {
            throw ManagerError.groupNotFound(name)
        }
        return group
    }

    /// Changes the group's own limits. If the new number of active transfers is lower, live runs continue; rates apply
    /// at once.
    public func setLimits(
        ofGroup name: String, of owner: Owner?, for principal: Principal,
        _ change: @escaping @Sendable (inout GroupLimits) -> Void
    ) async throws -> TaskGroup {
        let group = try await changeGroup(name, of: owner, for: principal) { tx, key in
            try tx.groups.setLimits(of: key, change)
        }
        await queue.applyLimits(ofGroup: group.key)
        return group
    }

    /// Pauses the group until `resume`. A restart does not end the pause.
    ///
    /// - Parameter stopsRunning: true if live runs are also checkpointed and their tasks requeued. Two kinds of runs
    ///   continue: those whose request must not be repeated, and those whose file is being published.
    public func pause(
        _ name: String, of owner: Owner?, stopsRunning: Bool, for principal: Principal
    ) async throws -> TaskGroup {
        let group = try await changeGroup(name, of: owner, for: principal) { tx, key in
            try tx.groups.setPaused(true, group: key)
        }
        if stopsRunning {
            let key = group.key
            try await scheduler.requeueRuns(
                matching: TaskQuery(states: [.running], groups: [key.name], owners: [key.owner]))
        }
        return group
    }

    public func resume(_ name: String, of owner: Owner?, for principal: Principal) async throws -> TaskGroup {
        try await changeGroup(name, of: owner, for: principal) { tx, key in try tx.groups.setPaused(false, group: key) }
    }

    /// Removes the group's settings; its tasks stay. Returns true if the group existed.
    public func reset(_ name: String, of owner: Owner?, for principal: Principal) async throws -> Bool {
        let key = try groupKey(name, of: owner, for: principal)
        let existed = try await translatingStoreErrors {
            try await store.write { tx in
                guard try tx.groups.find(key) != nil else { return false }
                try tx.groups.reset(key)
                return true
            }
        }
        await queue.applyLimits(ofGroup: key)
        await scheduler.schedule()
        return existed
    }

    // MARK: Steps

    private func changeGroup(
        _ name: String, of owner: Owner?, for principal: Principal,
        _ change: @escaping @Sendable (StoreTransaction, GroupKey) throws -> Void
    ) async throws -> TaskGroup {
        let key = try groupKey(name, of: owner, for: principal)
        let group = try await translatingStoreErrors {
            try await store.write { tx in
                try change(tx, key)
                // A group without tasks and settings has no row.
                return try tx.groups.find(key) ?? TaskGroup(key: key)
            }
        }
        await scheduler.schedule()
        return group
    }

    /// The key of a group. Only an operator may specify another owner's group.
    private func groupKey(_ name: String, of owner: Owner?, for principal: Principal) throws -> GroupKey {
        if let owner, owner != principal.owner, !principal.isOperator { throw ManagerError.groupNotFound(name) }
        return GroupKey(owner: owner ?? principal.owner, name: name)
    }
}
