public import XferModel

/// Decides which task may start next: limits, priorities, groups, profiles, rotation among hosts.
///
/// It contains only the running transfers and their tasks. The queue itself is a `QueueIndex`, so that a million queued
/// tasks cost no memory. Limits count transfers: tasks that share one take one slot. Class of origin:
/// SDWebImageDownloader's operation queue.
public struct SchedulerStateMachine: Sendable {
    public var limits: SchedulerLimits
    /// The highest number of transfers at once of the tasks with a profile, for profiles that have such a limit.
    public var maxActiveByProfile: [String: Int] = [:]
    /// The profiles whose tasks' hosts may see more connections than is polite.
    public var impoliteProfiles: Set<String> = [] {
        didSet { if impoliteProfiles != oldValue { origins.disallowMore() } }
    }
    /// The windows of origins: how many of a host's transfers may be active where the limits set no number.
    public var origins = OriginWindows()
    /// The small and large transfers that are active, for limits without a number.
    public private(set) var mix = TransferMix()
    /// Reasons why nothing starts at all, each set and cleared by its owner.
    public var holds: Set<Hold> = []

    /// The slots of transfers whose bodies are being transferred.
    private var slots: [TransferID: Slot] = [:]
    private var activeByHost: [String: Int] = [:]
    private var activeByGroup: [GroupKey: Int] = [:]
    private var activeByProfile: [String: Int] = [:]
    /// The transfer of each running task.
    private var transferByTask: [TaskID: TransferID] = [:]
    /// Descriptors that each running task may need at once.
    private var descriptorsByTask: [TaskID: Int] = [:]
    private var descriptorsInUse = 0
    /// True if the last pass ended because the next task needs more descriptors than are left; see `affords`.
    public var lacksDescriptors = false
    /// Running tasks whose bodies are being transferred.
    private var fetching: [TransferID: Set<TaskID>] = [:]
    /// Running tasks whose bodies have ended and are being verified or published.
    private var publishing: Set<TaskID> = []

    /// The reasons for which no task may start.
    public enum Hold: Hashable, Sendable {
        /// The queue is paused by an operator (`queue.pause`).
        case pausedByOperator
        /// The database cannot be written.
        case degraded
        /// A trust policy cannot be read from the database.
        case policyUnreadable
        /// Many tasks are put back into the queue, step by step. Nothing starts until that is done, so that no task
        /// overtakes another.
        case waking
        /// Like `waking`, for `queue.resume` with `now`.
        case resuming

        /// True for what several callers may do at the same time, each of which ends. The others are states.
        public var isNested: Bool {
            switch self {
            case .waking, .resuming: true
            case .pausedByOperator, .degraded, .policyUnreadable: false
            }
        }
    }

    private struct Slot {
        /// The task that the slot was taken for.
        let holder: TaskID
        let host: String
        let group: GroupKey?
        let profile: String?
        var kind = TransferMix.Kind.small
        /// The request in its origin's window; nil once its outcome is known.
        var ticket: OriginWindow.Ticket?
    }

    public init(limits: SchedulerLimits) { self.limits = limits }

    /// The number of transfers that occupy a slot.
    public var activeCount: Int { slots.count }
    /// The number of tasks that run, the publishing ones included.
    public var runningCount: Int { transferByTask.count }

    /// True if a task that needs this many file descriptors may start. A single task always may; if it then lacks
    /// descriptors, it waits.
    public func affords(descriptors: Int) -> Bool {
        transferByTask.isEmpty || descriptors <= limits.maxDescriptors - descriptorsInUse
    }

    public func isRunning(_ task: TaskID) -> Bool { transferByTask[task] != nil }

    /// The next task to start, or nil when none may. The caller starts it and reports that with `onStart`.
    ///
    /// The number of blocked hosts, groups and profiles is at most the number of active transfers, which bounds how
    /// many the index has to skip. A task that was paused and resumed while its run is still stopping is queued and
    /// running at once, and so is the task of a run whose start is not committed: it is skipped until that run has
    /// ended.
    public func next(in queue: borrowing some QueueIndex & ~Copyable) throws -> TaskID? {
        guard hasRoom else { return nil }
        let blocked = LaneExclusions(
            groups: try blockedGroups(in: queue),
            profiles: Set(activeByProfile.filter { $0.value >= maxActiveByProfile[$0.key] ?? .max }.keys),
            hosts: blockedHosts)
        let last = lastHosts
        for priority in Priority.allCases.sorted(by: >) {
            if !last.isEmpty {
                var others = blocked
                others.hosts = blocked.hosts.isEmpty ? last : last.union(blocked.hosts)
                if let task = try next(of: priority, without: others, in: queue) { return task }
            }
            if let task = try next(of: priority, without: blocked, in: queue) { return task }
        }
        return nil
    }

    private func next(
        of priority: Priority, without blocked: LaneExclusions, in queue: borrowing some QueueIndex & ~Copyable
    ) throws -> TaskID? {
        var excluded = blocked
        while let lane = try queue.nextLane(priority: priority, without: excluded) {
            if let task = try head(of: lane, in: queue) { return task }
            // All of the lane are stopping: there are no more such lanes than runs.
            excluded.hosts.insert(lane.host)
        }
        return nil
    }

    private var blockedHosts: Set<String> {
        // A host may be paced that has no active transfer.
        Set(activeByHost.keys.filter(isFull)).union(origins.paced)
    }

    /// The hosts whose tasks start only if no task of another host of the same priority may start: those that have half
    /// of all transfers, and those that do not answer.
    private var lastHosts: Set<String> {
        var last = limits.maxActivePerHost == nil ? origins.behind : []
        if limits.maxActive == nil {
            for (host, active) in activeByHost where active >= TransferMix.mostSmall / 2 { last.insert(host) }
        }
        return last
    }

    /// True if any task may start.
    private var hasRoom: Bool { holds.isEmpty && hasSlot && publishing.count < limits.maxPublishing }

    private var hasSlot: Bool { limits.maxActive.map { activeCount < $0 } ?? mix.hasRoom }

    /// The number of transfers that may still become active.
    public var freeSlots: Int { limits.maxActive.map { max(0, $0 - activeCount) } ?? mix.freeSlots }

    /// True if a task of this lane may start out of its turn.
    public func mayStart(_ lane: QueueLane, groupLimit: Int?) -> Bool {
        hasRoom && reachedLimit(of: lane, groupLimit: groupLimit) == nil
    }

    private func head(of lane: QueueLane, in queue: borrowing some QueueIndex & ~Copyable) throws -> TaskID? {
        let first = try queue.heads(of: lane, order: limits.order, limit: 1)
        if let task = first.first(where: { !isRunning($0) }) { return task }
        if first.isEmpty { return nil }
        return try queue.heads(of: lane, order: limits.order, limit: runningCount + 1).first { !isRunning($0) }
    }

    /// Groups at their own limit. The limits are read from the queue each time, so a new limit applies from the next
    /// pick.
    private func blockedGroups(in queue: borrowing some QueueIndex & ~Copyable) throws -> Set<GroupKey> {
        var blocked: Set<GroupKey> = []
        for (group, active) in activeByGroup {
            if let limit = try queue.maxActive(of: group), active >= limit { blocked.insert(group) }
        }
        return blocked
    }

    /// True if no further transfer from this host may start now.
    public func isBlocked(_ host: String) -> Bool { isFull(host) || origins.isPaced(host) }

    /// True if the number of active transfers from this host is at its limit.
    private func isFull(_ host: String) -> Bool { activeByHost[host, default: 0] >= maxActive(of: host) }

    /// The highest number of active transfers from this host: its own limit, else that of the configuration, else its
    /// window.
    public func maxActive(of host: String) -> Int {
        guard let fixed = limits.maxActivePerHost else { return origins.size(of: host) }
        return origins.limits[host]?.connections ?? fixed
    }

    /// The obstacle that prevents a queued task of this lane from starting now, apart from its turn and a pause of its
    /// group; nil if there is none.
    ///
    /// - Parameter groupLimit: the highest number of active transfers of the lane's group; nil is unlimited.
    public func obstacle(to lane: QueueLane, groupLimit: Int?) -> WaitReason? {
        if holds.contains(.pausedByOperator) { return .queuePaused }
        if holds.contains(.degraded) || holds.contains(.policyUnreadable) { return .storage }
        if let reached = reachedLimit(of: lane, groupLimit: groupLimit) { return reached }
        if publishing.count >= limits.maxPublishing { return .queueFull }
        return lacksDescriptors && runningCount > 0 ? .outOfDescriptors : nil
    }

    /// The limit on transfers that a task of this lane would exceed; nil if there is none.
    private func reachedLimit(of lane: QueueLane, groupLimit: Int?) -> WaitReason? {
        if isBlocked(lane.host) { return .hostFull }
        if let group = lane.group, let groupLimit, activeCount(of: group) >= groupLimit { return .groupFull }
        if let profile = lane.profile, activeCount(ofProfile: profile) >= maxActiveByProfile[profile] ?? .max {
            return .profileFull
        }
        return hasSlot ? nil : .queueFull
    }

    /// The number of this group's transfers that occupy a slot.
    public func activeCount(of group: GroupKey) -> Int { activeByGroup[group, default: 0] }

    /// Transfers of this host that occupy a slot.
    public func activeCount(ofHost host: String) -> Int { activeByHost[host, default: 0] }

    /// The number of transfers with this profile that occupy a slot.
    public func activeCount(ofProfile profile: String) -> Int { activeByProfile[profile, default: 0] }

    /// Records that a task was started on this transfer, which occupies a slot from now on, if it did not already. Its
    /// slot counts against the group and the profile of the first task, however many others join.
    ///
    /// - Parameters:
    ///   - descriptors: file descriptors that it may need at once.
    ///   - kind: the known kind of the transfer.
    ///   - ticket: of the request that the transfer continues; see `detachTicket`.
    ///   - now: nil for the latest time of `origins`.
    public mutating func onStart(
        _ task: TaskID, of transfer: TransferID, from lane: QueueLane, descriptors: Int = 0,
        kind: TransferMix.Kind = .small, continuing ticket: OriginWindow.Ticket? = nil, at now: MonotonicInstant? = nil
    ) {
        precondition(!isRunning(task), "task \(task) is running already")
        transferByTask[task] = transfer
        descriptorsByTask[task] = descriptors
        descriptorsInUse += descriptors
        fetching[transfer, default: []].insert(task)
        guard slots[transfer] == nil else {
            if let ticket { origins.end(lane.host, ticket, .other, at: now ?? origins.now) }
            return
        }
        if let profile = lane.profile, impoliteProfiles.contains(profile) { origins.allowMore(lane.host) }
        let ticket = ticket ?? origins.begin(lane.host, at: now ?? origins.now)
        occupySlot(
            for: transfer,
            Slot(
                holder: task, host: lane.host, group: lane.group, profile: lane.profile, kind: kind, ticket: ticket))
    }

    /// Records that a running task was put into another group: its transfer counts there from now on, also above the
    /// limit.
    public mutating func onRegroup(_ task: TaskID, group: GroupKey?) {
        guard let transfer = transferByTask[task], let slot = slots[transfer], slot.holder == task, slot.group != group
        else { return }
        detachTicket(of: transfer)
        releaseSlot(of: transfer)
        occupySlot(
            for: transfer,
            Slot(
                holder: task, host: slot.host, group: group, profile: slot.profile, kind: slot.kind,
                ticket: slot.ticket))
    }

    /// Records the outcome of a transfer's request. Call it before the transfer's slot is released. Returns true if the
    /// origin has refused it because of the requests in progress; see `OriginWindow.end`.
    @discardableResult
    public mutating func record(
        _ outcome: OriginWindow.Outcome, of transfer: TransferID, at now: MonotonicInstant
    ) -> Bool {
        guard let host = slots[transfer]?.host, let ticket = detachTicket(of: transfer) else { return false }
        return origins.end(host, ticket, outcome, at: now)
    }

    /// Removes and returns the request of a transfer, because another transfer continues it.
    @discardableResult
    public mutating func detachTicket(of transfer: TransferID) -> OriginWindow.Ticket? {
        defer { slots[transfer]?.ticket = nil }
        return slots[transfer]?.ticket
    }

    /// The known kind of a transfer; nil if it has no slot.
    public func kind(of transfer: TransferID) -> TransferMix.Kind? { slots[transfer]?.kind }

    /// Records the kind of a transfer. Returns true if it was not known to be of this kind.
    public mutating func classify(_ transfer: TransferID, as kind: TransferMix.Kind) -> Bool {
        guard let slot = slots[transfer], slot.kind != kind else { return false }
        mix.move(from: slot.kind, to: kind)
        slots[transfer]?.kind = kind
        return true
    }

    /// Releases the slot of a transfer whose body has ended; its tasks are still running.
    public mutating func onBodyEnd(_ transfer: TransferID) {
        publishing.formUnion(fetching.removeValue(forKey: transfer) ?? [])
        if slots[transfer]?.kind == .small { mix.onSmallEnd() }
        releaseSlot(of: transfer)
    }

    /// Ends the run of a task with any result.
    public mutating func onEnd(_ task: TaskID) {
        guard let transfer = transferByTask.removeValue(forKey: task) else { return }
        publishing.remove(task)
        descriptorsInUse -= descriptorsByTask.removeValue(forKey: task) ?? 0
        fetching[transfer]?.remove(task)
        guard fetching[transfer]?.isEmpty ?? true else { return }
        fetching[transfer] = nil
        releaseSlot(of: transfer)
    }

    private mutating func occupySlot(for transfer: TransferID, _ slot: Slot) {
        slots[transfer] = slot
        mix.insert(slot.kind)
        activeByHost[slot.host, default: 0] += 1
        if let group = slot.group { activeByGroup[group, default: 0] += 1 }
        if let profile = slot.profile { activeByProfile[profile, default: 0] += 1 }
    }

    private mutating func releaseSlot(of transfer: TransferID) {
        guard let slot = slots.removeValue(forKey: transfer) else { return }
        if let ticket = slot.ticket { origins.end(slot.host, ticket, .other, at: origins.now) }
        mix.remove(slot.kind)
        activeByHost.decrement(slot.host)
        if let group = slot.group { activeByGroup.decrement(group) }
        if let profile = slot.profile { activeByProfile.decrement(profile) }
    }
}

extension Dictionary where Value == Int {
    /// Decrements the count; a count of zero has no entry.
    fileprivate mutating func decrement(_ key: Key) {
        let left = self[key, default: 1] - 1
        self[key] = left > 0 ? left : nil
    }
}

/// The limits of the scheduler; all at least 1.
public struct SchedulerLimits: Hashable, Sendable {
    /// The highest number of transfers whose bodies are being transferred at the same time; nil leaves the number to
    /// `TransferMix`.
    public var maxActive: Int?
    /// The highest number of these from one host; nil leaves the number to `OriginWindow`.
    public var maxActivePerHost: Int?
    public var order: QueueOrder
    /// The highest number of finished bodies that are verified and published at once.
    public var maxPublishing: Int
    /// File descriptors that running tasks may need together: see `DescriptorRules`.
    public var maxDescriptors = Int.max

    public init(
        maxActive: Int? = nil, maxActivePerHost: Int? = nil, order: QueueOrder = .fifo, maxPublishing: Int = 1024
    ) {
        self.maxActive = maxActive
        self.maxActivePerHost = maxActivePerHost
        self.order = order
        self.maxPublishing = maxPublishing
    }
}

/// The store of queued tasks, in order. No operation may walk over tasks, in particular over those of a blocked host or
/// group.
public protocol QueueIndex: ~Copyable {
    /// The group's limit on its concurrent transfers; nil if it has none of its own.
    borrowing func maxActive(of group: GroupKey) throws -> Int?
    /// The lane that was served longest ago, among those with queued tasks. Paused groups, hosts that are cooling down
    /// and excluded lanes are skipped.
    borrowing func nextLane(priority: Priority, without excluded: LaneExclusions) throws -> QueueLane?
    /// The first tasks of the lane in the given order; there may be more than `limit`.
    borrowing func heads(of lane: QueueLane, order: QueueOrder, limit: Int) throws -> [TaskID]
}
