import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferClient
import XferCore
import XferModel
import XferProtocol

/// The execution of owners' and operators' requests for tasks that this node has claimed.
extension NodeWork {
    func carryOutRequests(_ registration: FleetRegistration) async throws {
        for wish in try await database.leases.wishes(registration) {
            // The task is not in the daemon yet: the wish comes again with the next round.
            if unadded.contains(where: { $0.claimKey == wish.claimKey }) { continue }
            if let local = claimed.local(of: wish.claimKey) { try await carryOut(wish, on: local) }
            outbox.report.wishes.append(wish.id)
        }
    }

    private func carryOut(_ wish: FleetLeaseWish, on local: TaskID) async throws {
        let selection = TaskSelection(ids: [local])
        switch wish.wish {
        case .cancel: try await daemon.client.cancel(selection)
        case .resume: try await daemon.client.resume(selection)
        case .pause:
            // The bytes stay: if this node claims the task again, it goes on with them.
            guard try await hasStopped(try await daemon.client.pause(selection), local) else { return }
            claimed.remove(local)
            outbox.release(wish.claimKey, .paused)
        case .move(let place):
            guard try await giveUp(local) else { return }
            outbox.release(wish.claimKey, .move(place))
        case .priority(let priority): try await change(local, ["priority": priority.wire])
        case .limits(let text):
            guard let changes = try? JSONValue(parsing: text.utf8) else { return }
            try await change(local, changes)
        case .retry, .reorder, .remove: return
        }
    }

    private func change(_ local: TaskID, _ changes: JSONValue) async throws {
        guard let changes = try? TaskChanges(lenient: changes) else { return }
        do {
            _ = try await daemon.client.call(TaskUpdate.self, TaskUpdate.Params(id: local, changes: changes))
        } catch CallError.refused(let failure) {
            logger.notice("xferd refuses a change: \(failure.message)")
        }
    }

    /// True if the task is paused now. A task that has ended, or may not be interrupted, continues to its end.
    private func hasStopped(_ result: SelectionResult, _ local: TaskID) async throws -> Bool {
        guard case .ids(let listed) = result else { return false }
        return listed.changed.contains(local)
            || listed.unchanged.contains { $0.id == local && $0.state.value == .paused }
    }

    /// Ends the task here without a file, unless it has ended already.
    private func giveUp(_ local: TaskID) async throws -> Bool {
        guard case .ids(let listed) = try await daemon.client.cancel(TaskSelection(ids: [local])),
            listed.changed.contains(local)
        else { return false }
        claimed.remove(local)
        try await daemon.remove([local])
        return true
    }

    // MARK: What runs

    /// Reports the progress of tasks. A node that drains returns tasks that have not begun.
    func reportRunning(_ registration: FleetRegistration) async throws {
        guard claimed.count > 0, isDaemonWell else { return }
        let ids = Array(claimed.ids.prefix(1000))
        let fields = TaskColumns(["state", "progress", "attempts", "started_at"]) ?? .all
        var waiting: [TaskID] = []
        for (id, record) in try await daemon.tasks(ids, fields: fields) {
            guard let claimKey = claimed[id] else { continue }
            let hasBegun = record.startedAt != nil || (record.attempts ?? 0) > 0
            if isDraining, !hasBegun, [.queued, .waiting].contains(record.state?.value) { waiting.append(id) }
            guard record.state?.value == .running, let progress = record.progress else { continue }
            outbox.report.progress.append(
                FleetProgress(claimKey: claimKey, received: max(0, progress.received), total: progress.total))
        }
        for id in waiting {
            guard let claimKey = claimed[id], try await giveUp(id) else { continue }
            outbox.release(claimKey, .queue, reason: "node \(configuration.node) is draining")
        }
    }
}
