import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferClient
import XferCore
import XferDaemon
import XferModel
import XferProtocol

/// The fleet's tasks on this node: claims, the daemon's tasks, ends and reports.
///
/// Claims are durable in the database, tasks and their ends in the daemon, so that a step which fails is repeated
/// without harm.
final class NodeWork: NodePart {
    let context: NodeContext
    var claimed = ClaimedTasks()
    /// Claimed tasks that wait for a permit to be published, and the number of xferd's refusals to publish each.
    var staged: [TaskID: Int] = [:]
    /// Tasks that are claimed, but not yet added to the daemon.
    var unadded: [FleetClaim] = []
    /// The contents of the next report to the fleet; emptied after it.
    var outbox = Outbox()
    /// The daemon's last event whose effects are in `outbox` or in the fleet.
    private var cursor: Int64 = 0
    var claimCursor = FleetClaimCursor()
    var recentEnds = 0

    init(_ context: NodeContext) { self.context = context }

    /// True if the node takes no new tasks.
    var isDraining: Bool { nodeStatus.withLockedValue { $0.isDraining } }
    /// True if the node has no task.
    var isIdle: Bool { claimed.count == 0 && unadded.isEmpty }
    /// True if nothing waits for another attempt.
    var isSettled: Bool { unadded.isEmpty && staged.isEmpty && outbox.isEmpty }
    /// The number of tasks that the node would claim now.
    var want: Int {
        ClaimRules.want(
            slots: configuration.fleet.slots, claimed: claimed.count, recentEnds: recentEnds, isDraining: isDraining)
    }

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
        let leases = try await database.leases.list(registration)
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
            logger.notice("tasks that the fleet no longer assigns to this node were removed: \(over.count)")
        }
        try await finishPermitted(stagedOnes, registration)
        try await daemon.discard(over)
        for chunk in absent.chunks(of: ClaimRules.most) { try await database.takeovers.abandon(registration, chunk) }
        try await gather(ended)
    }

    private func follow(_ claimKey: FleetClaimKey, as local: TaskID, _ state: TaskState) {
        claimed.insert(claimKey, as: local)
        if state == .staged { staged[local] = 0 }
    }

    // MARK: Ends

    /// Puts a page of ends into the outbox.
    ///
    /// - Returns: true if there are more.
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
        let outcome = try await database.leases.report(registration, message.report)
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

    /// Ends these tasks here without a file, because other nodes have them now.
    func drop(_ lost: [FleetTaskID], _ registration: FleetRegistration) async throws {
        let gone = lost.compactMap { task in claimed.local(of: task).map { (local: $0, task: task) } }
        guard !gone.isEmpty else { return }
        logger.warning("the fleet has given tasks to other nodes: \(gone.count) were removed here")
        try await finishPermitted(gone.filter { staged[$0.local] != nil }, registration)
        for (local, _) in gone {
            claimed.remove(local)
            staged[local] = nil
        }
        try await daemon.discard(gone.map(\.local))
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
