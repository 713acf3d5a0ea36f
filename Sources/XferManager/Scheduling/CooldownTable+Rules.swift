import XferCore
import XferModel
import XferStore

/// Changes of hosts' cooldowns, and of their causes.
extension CooldownTable where Store == StoreTransaction {
    /// Makes the host's tasks wait if the answer is about all of them. A longer cooldown that is in force stays.
    func begin(
        after error: TransferError, of task: TransferTask, at now: Timestamp,
        using random: inout some RandomNumberGenerator
    ) throws {
        switch HostCooldownRules.scope(of: error, to: task.specification) {
        case .none:
            return
        case .url:
            let others = try refusedTasks(by: task.host, besides: task.specification.request.url, after: now)
            guard others.contains(where: { HostCooldownRules.confirms($0, error, to: task) }) else { return }
        case .host:
            break
        }
        let until = now.advanced(
            by: HostCooldownRules.duration(after: error, tries: task.attempts, using: &random))
        if let known = try find(of: task.host), known.until >= until { return }
        try set(host: task.host, until: until, cause: HostCooldown.Cause(task))
    }

    /// Ends the cooldowns that are due. If a cooldown's cause has ended early, the cooldown continues for another task
    /// that waits because of a similar answer.
    func liftDue(now: Timestamp) throws {
        for due in try due(now: now, limit: StoreTransaction.largestStep) {
            let isEarly = due.until == HostCooldown.over
            let successor =
                isEarly
                ? HostCooldownRules.successor(among: Array(try refusedTasks(by: due.host, after: now))) : nil
            try set(due.host, for: successor)
        }
    }

    /// Ends the cooldown of the task's host, as far as its user may, because the user has requested an attempt now.
    /// Returns true if the cooldown continues for other tasks, so that only this one may start; nil if there is none.
    ///
    /// An operator ends the cooldown for all. Another user ends the part that answers to the user's own tasks have
    /// caused; the part that other users' tasks have caused stays.
    func lift(for task: TransferTask, by principal: Principal, at now: Timestamp) throws -> Bool? {
        guard let cooldown = try find(of: task.host) else { return nil }
        if principal.isOperator {
            try set(task.host, for: nil)
            return false
        }
        guard cooldown.cause?.owner == principal.owner else { return true }
        let others = try refusedTasks(by: task.host, ofOthersThan: principal.owner, after: now)
        let successor = HostCooldownRules.successor(among: Array(others))
        try set(task.host, for: successor)
        return successor != nil
    }

    /// Sets or ends the cooldown of a host.
    ///
    /// - Parameter cause: a waiting task; nil ends the cooldown.
    private func set(_ host: String, for cause: TransferTask?) throws {
        try set(
            host: host, until: cause?.wait?.until, cause: cause.map { HostCooldown.Cause($0) })
    }
}
