import Logging
import StrictJSON
import XferClient
import XferCore
import XferModel
import XferProtocol

/// Files on shared storage: each is published under a permit, so that the next node knows where to look if this one is
/// taken over in between.
extension NodeWork {
    // MARK: Publishing

    /// Requests permits for staged tasks, and publishes the tasks that got one.
    func publishStaged(_ registration: FleetRegistration) async throws {
        guard !staged.isEmpty else { return }
        let ids = staged.keys.sorted()
        let records = try await daemon.tasks(ids, fields: Handover.stagedFields)
        var permits: [TaskID: FleetPermit] = [:]
        for id in ids {
            guard let claimKey = claimed[id], let record = records[id], record.state?.value == .staged else {
                staged[id] = nil
                continue
            }
            // A hook's work would go on; hooks are not for tasks of a fleet.
            guard let file = record.stagedFile else { continue }
            guard let permit = storages.permit(claimKey, file) else {
                try await giveBack(id, claimKey, reason: "\(file.path) is not on a shared storage of the node")
                continue
            }
            permits[id] = permit
        }
        let lost = Set(try await database.permits.give(registration, permits.sorted { $0.key < $1.key }.map(\.value)))
        try await drop(lost.sorted(), registration)
        for (id, permit) in permits.sorted(by: { $0.key < $1.key }) where !lost.contains(permit.claimKey.task) {
            try await publish(id, permit.claimKey)
        }
    }

    private func publish(_ id: TaskID, _ claimKey: FleetClaimKey) async throws {
        do {
            try await daemon.commit([id])
            staged[id] = nil
        } catch CallError.refused(let failure) where failure.knownCode?.isOfTheTask == true {
            let tries = staged[id, default: 0] + 1
            let reason = failure.data.flatMap { FailureReason(rawValue: $0.reason) }
            logger.notice(
                "xferd does not publish a task of the fleet: \(failure.message)",
                metadata: ["task": "\(claimKey.task)", "tries": "\(tries)"])
            switch PermitRules.judge(reason, tries: tries) {
            case .wait: staged[id] = tries
            case .fail:
                try await discard(id)
                outbox.end(
                    claimKey, .failed, detail: Handover.detail(failure, reason: reason, node: configuration.node),
                    result: nil, removing: nil)
            case .decline: try await giveBack(id, claimKey, reason: failure.message)
            }
        }
    }

    /// Returns the task, so that other nodes can claim it.
    private func giveBack(_ id: TaskID, _ claimKey: FleetClaimKey, reason: String) async throws {
        try await discard(id)
        outbox.release(claimKey, .decline, reason: "node \(configuration.node): \(reason)")
    }

    private func discard(_ id: TaskID) async throws {
        claimed.remove(id)
        staged[id] = nil
        try await daemon.discard([id])
    }

    // MARK: After a takeover

    /// Lets xferd finish files that this node was permitted to publish before the fleet gave the tasks to others.
    /// Cancelling them in between would delete files that the fleet regards as published.
    ///
    /// If the next node has checked already, the partial file no longer has its name, and xferd publishes nothing.
    func finishPermitted(_ tasks: [(local: TaskID, task: FleetTaskID)], _ registration: FleetRegistration) async throws
    {
        guard !tasks.isEmpty else { return }
        let permits = try await database.permits.list(registration, ofTasks: tasks.map(\.task))
        guard !permits.isEmpty else { return }
        let records = try await daemon.tasks(tasks.map(\.local), fields: Handover.stagedFields)
        for (local, task) in tasks {
            guard let file = records[local]?.stagedFile,
                permits.contains(where: { $0.claimKey.task == task && file.path.hasSuffix("/" + $0.part) })
            else { continue }
            do {
                try await daemon.commit([local])
            } catch CallError.refused(let failure) {
                logger.notice("a task of another node is not published: \(failure.message)")
            }
        }
    }

    /// Checks if earlier claims of these tasks have published files, before anything is transferred again.
    func settlePermits(_ claims: [FleetClaim], _ registration: FleetRegistration) async throws {
        let open = try await database.permits.open(claims.map(\.claimKey))
        guard !open.isEmpty else { return }
        var closed: [FleetClaimKey] = []
        for claim in claims {
            let permits = open.filter { $0.permit.claimKey.task == claim.claimKey.task }
            guard !permits.isEmpty else { continue }
            do {
                if try await settle(claim, permits) { closed.append(claim.claimKey) }
            } catch {
                outbox.release(claim.claimKey, .queue, reason: "node \(configuration.node): \(error)")
                logger.warning(
                    "shared storage cannot be read: \(error)", metadata: ["task": "\(claim.claimKey.task)"])
            }
        }
        let void = Set(try await database.permits.close(registration, closed))
        let kept = Set(closed.filter { !void.contains($0.task) })
        let looked = Set(open.map(\.permit.claimKey.task))
        unadded.removeAll { looked.contains($0.claimKey.task) && !kept.contains($0.claimKey) }
    }

    /// Settles earlier claims of a task that may have published its file.
    ///
    /// - Returns: true if the task is to be transferred.
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
            outbox.end(claim.claimKey, .completed, detail: Handover.detail(record), result: nil, removing: nil)
            logger.notice(
                "a node that is down had published the file",
                metadata: ["task": "\(claim.claimKey.task)", "path": "\(found.path)"])
            return false
        case .transfer: return true
        case .end(let ending):
            outbox.end(claim.claimKey, ending, detail: "{}", result: nil, removing: nil)
            return false
        }
    }
}
