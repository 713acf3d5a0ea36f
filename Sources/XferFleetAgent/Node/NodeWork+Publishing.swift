import Logging
import StrictJSON
import XferClient
import XferCore
import XferFleet
import XferModel
import XferProtocol

/// Files on shared storage: each is published under a permit, so that the next node knows where to look if this one is
/// taken over in between.
extension NodeWork {
    // MARK: Publishing

    /// Requests permits for staged tasks, and publishes those that got one.
    func publishStaged(_ registration: FleetRegistration) async throws {
        guard !staged.isEmpty else { return }
        let ids = staged.keys.sorted()
        let records = try await daemon.tasks(ids, fields: Handover.stagedFields)
        var permits: [TaskID: FleetPermit] = [:]
        for id in ids {
            guard let hold = held[id], let record = records[id], record.state?.value == .staged else {
                staged[id] = nil
                continue
            }
            // A hook's work would go on; hooks are not for tasks of a fleet.
            guard let file = record.stagedFile else { continue }
            guard let permit = storages.permit(hold, file) else {
                try await giveBack(id, hold, reason: "\(file.path) is on no shared storage of the node")
                continue
            }
            permits[id] = permit
        }
        let lost = Set(try await database.permits.give(registration, permits.sorted { $0.key < $1.key }.map(\.value)))
        try await drop(lost.sorted(), registration)
        for (id, permit) in permits.sorted(by: { $0.key < $1.key }) where !lost.contains(permit.hold.task) {
            try await publish(id, permit.hold)
        }
    }

    private func publish(_ id: TaskID, _ hold: FleetHold) async throws {
        do {
            try await daemon.commit([id])
            staged[id] = nil
        } catch CallError.refused(let failure) where failure.knownCode?.isOfTheTask == true {
            let tries = staged[id, default: 0] + 1
            let reason = failure.data.flatMap { FailureReason(rawValue: $0.reason) }
            logger.notice(
                "xferd does not publish a task of the fleet: \(failure.message)",
                metadata: ["task": "\(hold.task)", "tries": "\(tries)"])
            switch PermitRules.judge(reason, tries: tries) {
            case .wait: staged[id] = tries
            case .fail:
                try await discard(id)
                outbox.end(
                    hold, .failed, detail: Handover.detail(failure, reason: reason, node: configuration.node),
                    result: nil, removing: nil)
            case .decline: try await giveBack(id, hold, reason: failure.message)
            }
        }
    }

    /// Lets other nodes have the task.
    private func giveBack(_ id: TaskID, _ hold: FleetHold, reason: String) async throws {
        try await discard(id)
        outbox.release(hold, .decline, reason: "node \(configuration.node): \(reason)")
    }

    private func discard(_ id: TaskID) async throws {
        held.remove(id)
        staged[id] = nil
        try await daemon.discard([id])
    }

    // MARK: After a takeover

    /// Lets xferd finish what this node was permitted to publish before the fleet gave the tasks to others. To cancel
    /// them in the middle would delete files that the fleet counts as published.
    ///
    /// Where the next node has looked already, the part is gone from under its name, and xferd publishes nothing.
    func finishPermitted(_ tasks: [(local: TaskID, task: FleetTaskID)], _ registration: FleetRegistration) async throws
    {
        guard !tasks.isEmpty else { return }
        let permits = try await database.permits.list(registration, ofTasks: tasks.map(\.task))
        guard !permits.isEmpty else { return }
        let records = try await daemon.tasks(tasks.map(\.local), fields: Handover.stagedFields)
        for (local, task) in tasks {
            guard let file = records[local]?.stagedFile,
                permits.contains(where: { $0.hold.task == task && file.path.hasSuffix("/" + $0.part) })
            else { continue }
            do {
                try await daemon.commit([local])
            } catch CallError.refused(let failure) {
                logger.notice("a task of another node is not published: \(failure.message)")
            }
        }
    }

    /// Looks for what former claims of these tasks have published, before anything is transferred again.
    func settlePermits(_ claims: [FleetClaim], _ registration: FleetRegistration) async throws {
        let open = try await database.permits.open(claims.map(\.hold))
        guard !open.isEmpty else { return }
        var closed: [FleetHold] = []
        for claim in claims {
            let permits = open.filter { $0.permit.hold.task == claim.hold.task }
            guard !permits.isEmpty else { continue }
            do {
                if try await settle(claim, permits) { closed.append(claim.hold) }
            } catch {
                outbox.release(claim.hold, .queue, reason: "node \(configuration.node): \(error)")
                logger.warning(
                    "shared storage cannot be looked at: \(error)", metadata: ["task": "\(claim.hold.task)"])
            }
        }
        let void = Set(try await database.permits.close(registration, closed))
        let kept = Set(closed.filter { !void.contains($0.task) })
        let looked = Set(open.map(\.permit.hold.task))
        unadded.removeAll { looked.contains($0.hold.task) && !kept.contains($0.hold) }
    }

    /// - Returns: whether the task is to be transferred.
    private func settle(_ claim: FleetClaim, _ permits: [FleetOpenPermit]) async throws -> Bool {
        var found: (path: String, size: Int64)?
        for open in permits {
            if let path = try await storages.settle(open.permit) { found = (path, open.permit.size) }
        }
        let verdict = PermitRules.judge(
            isFound: found != nil, isRepeatable: claim.isRepeatable,
            wasCancelling: permits.contains(where: \.wasCancelling))
        switch verdict {
        case .published:
            guard let found else { return false }
            var record = TaskRecord()
            record.finalPath = found.path
            record.progress = ProgressRecord(received: found.size, total: found.size)
            outbox.end(claim.hold, .completed, detail: Handover.detail(record), result: nil, removing: nil)
            logger.notice(
                "a node that is down had published the file",
                metadata: ["task": "\(claim.hold.task)", "path": "\(found.path)"])
            return false
        case .transfer: return true
        case .end(let ending):
            outbox.end(claim.hold, ending, detail: "{}", result: nil, removing: nil)
            return false
        }
    }
}
