import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferClient
import XferCore
import XferModel
import XferProtocol

/// Claims, and how they become tasks of the daemon.
extension NodeWork {
    /// Claims what the node has room for. Renew the daemon's lease before: one that does not answer gets no task.
    func claim(_ registration: FleetRegistration) async throws {
        if !unadded.isEmpty { try await handOver(registration) }
        let want = want
        recentEnds = 0
        guard want > 0 else { return }
        var place = claimCursor
        let claims = try await database.leases.claim(registration, want: want, cursor: &place)
        claimCursor = place
        guard !claims.isEmpty else { return }
        nodeStatus.withLockedValue { $0.claims = $0.claims.addingSaturated(Int64(clamping: claims.count)) }
        unadded = claims
        try await handOver(registration)
        wakeSignal.ring()
    }

    /// Adds the claimed tasks to the daemon. After a crash before or after that, `reconcile` corrects the state.
    private func handOver(_ registration: FleetRegistration) async throws {
        try await settlePermits(unadded.filter { $0.place.storage != nil }, registration)
        let once = unadded.filter { !$0.isRepeatable }.map(\.claimKey)
        let void = once.isEmpty ? [] : Set(try await database.leases.begin(registration, once))
        unadded.removeAll { void.contains($0.claimKey.task) }
        let byOwner = Dictionary(grouping: unadded, by: \.owner)
        for (_, claims) in byOwner.sorted(by: { $0.key < $1.key }) {
            try await add(claims, registration)
            let added = Set(claims.map(\.claimKey))
            unadded.removeAll { added.contains($0.claimKey) }
        }
    }

    private func add(_ claims: [FleetClaim], _ registration: FleetRegistration) async throws {
        var tasks: [(claim: FleetClaim, task: NewTask)] = []
        for claim in claims {
            if let difference = try await difference(claim) {
                refuse(claim, RPCFailure(.rejectedByPolicy, difference))
                continue
            }
            if let storage = claim.place.storage, storages.paths[storage] == nil {
                outbox.release(claim.claimKey, .decline, reason: "node \(configuration.node) has no storage \(storage)")
            } else if let task = Handover.newTask(claim, fleet: registration.fleet, storages) {
                tasks.append((claim, task))
            } else {
                let failure = RPCFailure(.invalidParams, "the stored task cannot be read by this version")
                refuse(claim, failure)
            }
        }
        var rest = tasks[...]
        while !rest.isEmpty {
            var size = 0
            let count = rest.prefix { entry in
                size += entry.task.wire.text.utf8.count + 1
                return size <= FleetAdmission.largestTask
            }.count
            // The daemon refuses a single task that is longer.
            let call = Array(rest.prefix(max(1, count)))
            rest = rest.dropFirst(call.count)
            try await handOver(call)
        }
    }

    /// Adds tasks in one call. One that the daemon refuses stops no other.
    private func handOver(_ tasks: [(claim: FleetClaim, task: NewTask)]) async throws {
        let added: TaskAdd.Many
        do {
            added = try await daemon.add(tasks.map(\.task))
        } catch let error as CallError {
            guard let failure = error.refusalOfTask else { throw error }
            // One bad task refuses the call: they are added one by one.
            guard tasks.count == 1 else {
                for task in tasks { try await handOver([task]) }
                return
            }
            return refuse(tasks[0].claim, failure)
        }
        for (entry, id) in zip(tasks, added.ids) { claimed.insert(entry.claim.claimKey, as: id) }
        try await meetAgain(added.existing.compactMap { added.ids.indices.contains($0) ? added.ids[$0] : nil }, tasks)
    }

    /// The difference between a policy or a profile of the task and this node's; nil if they are the same.
    private func difference(_ claim: FleetClaim) async throws -> String? {
        guard let (settings, named) = Handover.namedSettings(claim) else { return nil }
        for setting in named {
            guard let own = try await daemon.digests(of: setting) else { return "it has no \(setting)" }
            if let names = settings.differences(setting, from: own), !names.isEmpty {
                return "its \(setting) differs in \(names.joined(separator: ", "))"
            }
        }
        return nil
    }

    /// Resumes tasks that the node had before, and that its daemon still has.
    private func meetAgain(_ ids: [TaskID], _ tasks: [(claim: FleetClaim, task: NewTask)]) async throws {
        guard !ids.isEmpty else { return }
        let records = try await daemon.tasks(ids, fields: Handover.stagedFields)
        var ended: [TaskID] = []
        for (id, record) in records {
            guard let state = record.state?.value else { continue }
            // The node that had the task in between has removed the part, so that it is published once.
            let isPartGone = if let file = record.stagedFile { await !storages.exists(file.path) } else { false }
            switch isPartGone ? .remove : ReconcileRules.step(claimedAgain: state) {
            case .report: ended.append(id)
            case .remove:
                try await isPartGone ? daemon.discard([id]) : daemon.remove([id])
                guard let claimKey = claimed.remove(id),
                    let again = tasks.first(where: { $0.claim.claimKey == claimKey })
                else {
                    continue
                }
                if let fresh = try await daemon.add([again.task]).ids.first { claimed.insert(claimKey, as: fresh) }
            default:
                if state == .paused { try await daemon.client.resume(TaskSelection(ids: [id])) }
                if state == .staged { staged[id] = 0 }
            }
        }
        try await gather(ended)
    }

    /// Handles a task that the daemon does not take: other nodes may, unless it is for this one alone or no node can.
    private func refuse(_ claim: FleetClaim, _ failure: RPCFailure) {
        let isOfThisNode =
            [.permissionDenied, .rejectedByPolicy].contains(failure.knownCode) || failure.data?.path == "owner"
        if isOfThisNode, !claim.place.isPinned {
            outbox.release(claim.claimKey, .decline, reason: "node \(configuration.node): \(failure.message)")
        } else {
            outbox.end(
                claim.claimKey, .failed, detail: Handover.detail(failure, node: configuration.node), result: nil,
                removing: nil)
        }
        logger.notice(
            "xferd refuses a task of the fleet: \(failure.message)", metadata: ["task": "\(claim.claimKey.task)"])
    }
}

extension CallError {
    /// The daemon's refusal of a task of the call; nil if the error is about no task.
    fileprivate var refusalOfTask: RPCFailure? {
        switch self {
        case .refused(let failure) where failure.knownCode?.isOfTheTask == true: failure
        case .refused(let failure) where failure.data?.reason == "message_too_large":
            // Another node's daemon may take longer messages.
            RPCFailure(
                .rejectedByPolicy,
                "the task does not fit into a message to its xferd (rpc.max_line): \(failure.message)")
        case .connection(.messageTooLong(let limit)):
            RPCFailure(.invalidParams, "the task does not fit into a message to xferd, of at most \(limit) bytes")
        case .refused, .connection, .malformedResult: nil
        }
    }
}
