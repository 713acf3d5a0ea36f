import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferClient
import XferCore
import XferDaemon
import XferFleet
import XferModel
import XferProtocol

/// Claims, the daemon's tasks, and reports.
extension NodeAgent {
    // MARK: At the start

    /// Compares leases with the daemon's tasks (`ReconcileRules`). The fleet's lease in the daemon is not renewed
    /// before.
    func reconcile(_ registration: FleetRegistration) async throws {
        claimed.removeAll()
        staged = [:]
        unadded = []
        outbox = Outbox()
        // What ends from here on is seen in the events, what ended before in the list.
        cursor = try await daemon.newestEvent()
        let known = try await daemon.known(ofFleet: registration.fleet)
        let leases = try await database.leases(registration)
        let byTask = Dictionary(known.map { ($0.key.task, $0) }) { first, _ in first }
        var absent: [FleetClaimKey] = []
        var ended: [TaskID] = []
        for lease in leases {
            let local = byTask[lease.claimKey.task.rawValue]
            switch ReconcileRules.step(isLeased: true, local: local?.state) {
            case .giveBack: absent.append(lease.claimKey)
            case .follow: if let local { follow(lease.claimKey, as: local.id, local.state) }
            case .report:
                if let local {
                    claimed.insert(lease.claimKey, as: local.id)
                    ended.append(local.id)
                }
            default: break
            }
        }
        let leased = Set(leases.map(\.claimKey.task.rawValue))
        var over: [TaskID] = []
        var stagedOnes: [(local: TaskID, task: FleetTaskID)] = []
        for local in known where !leased.contains(local.key.task) {
            switch ReconcileRules.step(isLeased: false, local: local.state) {
            case .abandon, .remove:
                over.append(local.id)
                if local.state == .staged { stagedOnes.append((local.id, FleetTaskID(local.key.task))) }
            default: break
            }
        }
        if !over.isEmpty {
            logger.notice("tasks of the fleet that are no longer this node's are dropped: \(over.count)")
        }
        try await finishPermitted(stagedOnes, registration)
        try await daemon.discard(over)
        for chunk in absent.chunks(of: ClaimRules.most) { try await database.abandon(registration, chunk) }
        try await gather(ended)
    }

    private func follow(_ claimKey: FleetClaimKey, as local: TaskID, _ state: TaskState) {
        claimed.insert(claimKey, as: local)
        if state == .staged { staged[local] = 0 }
    }

    // MARK: Claims

    func claim(_ registration: FleetRegistration) async throws {
        // A daemon that does not answer gets no task.
        try await renewLease()
        if !unadded.isEmpty { try await handOver(registration) }
        let want = ClaimRules.want(
            slots: configuration.fleet.slots, claimed: claimed.count, recentEnds: recentEnds, isDraining: isDraining)
        recentEnds = 0
        guard want > 0 else { return }
        var place = claimCursor
        let claims = try await database.claim(registration, want: want, cursor: &place)
        claimCursor = place
        guard !claims.isEmpty else { return }
        nodeStatus.withLockedValue { $0.claims = $0.claims.addingSaturated(Int64(clamping: claims.count)) }
        unadded = claims
        try await handOver(registration)
        wakeSignal.ring()
    }

    /// Adds claimed tasks to the daemon. `reconcile` detects a crash before or after it.
    private func handOver(_ registration: FleetRegistration) async throws {
        try await settlePermits(unadded.filter { $0.place.storage != nil }, registration)
        let once = unadded.filter { !$0.isRepeatable }.map(\.claimKey)
        let void = once.isEmpty ? [] : Set(try await database.begin(registration, once))
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
            // One that is longer by itself is told so by the daemon.
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

    /// The daemon does not take the task: other nodes may, unless it is for this one alone or nothing can.
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

    // MARK: Ends

    /// Puts a page of ends into the outbox.
    ///
    /// - Returns: whether there are more.
    func collectEnds(_ registration: FleetRegistration) async throws -> Bool {
        guard let page = try await daemon.ends(since: cursor) else {
            logger.warning("xferd no longer has all events: the node compares all its tasks")
            try await reconcile(registration)
            return false
        }
        let ended = page.events.compactMap(\.taskID).filter { claimed[$0] != nil }
        try await gather(Set(ended).sorted())
        // A page also ends after so many events of other types.
        let isShort = page.lastSeq.subtractingSaturated(cursor) >= Int64(clamping: PageBounds.usualScan)
        cursor = max(cursor, page.lastSeq)
        return isShort || page.events.count >= LocalDaemon.page
    }

    /// Puts how these tasks ended into the outbox.
    func gather(_ ids: [TaskID]) async throws {
        guard !ids.isEmpty else { return }
        let records = try await daemon.tasks(ids, fields: Handover.fetched)
        for id in ids {
            guard let claimKey = claimed[id] else { continue }
            guard let record = records[id] else {
                // An operator removed it, or the history was trimmed.
                claimed.remove(id)
                outbox.release(claimKey, .queue, reason: "removed from xferd of node \(configuration.node)")
                continue
            }
            if record.state?.value == .staged { staged[id] = staged[id] ?? 0 }
            guard let ending = Handover.ending(record) else { continue }
            staged[id] = nil
            let hasResult = ending == .completed && record.kind?.value.map { $0 != .download } == true
            let result = hasResult ? try await daemon.result(of: id) : nil
            outbox.end(claimKey, ending, detail: Handover.detail(record), result: result, removing: id)
        }
    }

    // MARK: Reports

    /// Reports to the fleet, then removes ended tasks from the daemon.
    func report(_ registration: FleetRegistration) async throws {
        nodeStatus.withLockedValue { $0.claimed = claimed.count }
        guard !outbox.isEmpty else { return }
        var message = outbox
        message.report.applied = cursor
        let outcome = try await database.report(registration, message.report)
        outbox = Outbox()
        recentEnds = message.report.ends.count
        let lost = Set(outcome.lost)
        for claimKey in message.report.ends.map(\.claimKey) + message.report.releases.map(\.claimKey) {
            if let local = claimed.local(of: claimKey) { claimed.remove(local) }
        }
        try await drop(outcome.lost, registration)
        nodeStatus.withLockedValue {
            $0.claimed = claimed.count
            $0.ends = $0.ends.addingSaturated(
                Int64(clamping: message.report.ends.count { !lost.contains($0.claimKey.task) }))
            $0.lost = $0.lost.addingSaturated(Int64(clamping: outcome.lost.count))
        }
        changes.ring()
        if !message.report.releases.isEmpty { announcer.announce() }
        if !message.report.ends.isEmpty { wakeSignal.ring() }
        try await daemon.remove(message.removed)
    }

    /// Other nodes have these tasks now: they end here without a file.
    func drop(_ lost: [FleetTaskID], _ registration: FleetRegistration) async throws {
        let gone = lost.compactMap { task in claimed.local(of: task).map { (local: $0, task: task) } }
        guard !gone.isEmpty else { return }
        logger.warning("the fleet has given tasks to other nodes: \(gone.count) are dropped here")
        try await finishPermitted(gone.filter { staged[$0.local] != nil }, registration)
        for (local, _) in gone {
            claimed.remove(local)
            staged[local] = nil
        }
        try await daemon.discard(gone.map(\.local))
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

extension Handover {
    /// The columns of an ended task that are read.
    static let fetched = TaskColumns(keptFields + ["state"]) ?? .all
    /// The columns that are read of a task that may be staged.
    static let stagedFields = TaskColumns(["state", "staged_file"]) ?? .all
}

extension ErrorCode {
    /// True if the refusal is about the task, so that the same call would be refused again.
    var isOfTheTask: Bool {
        switch self {
        case .invalidParams, .permissionDenied, .rejectedByPolicy, .conflict, .notFound, .invalidState: true
        default: false
        }
    }
}
