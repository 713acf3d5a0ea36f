import XferCore
import XferModel
import XferStore

/// One scheduling pass within a transaction: it decides which tasks start, and on which transfer.
struct SchedulingPass: Sendable {
    /// A transfer that is running.
    struct Live: Sendable {
        /// The key of tasks that may join; nil if none may.
        var key: [UInt8]?
        var owner: Owner
    }

    /// A task that starts, and its transfer.
    struct Start: Sendable {
        var task: TransferTask
        var transfer: Transfer
        /// True if no task used the transfer before.
        var isNew: Bool
        /// The file descriptors that the task may need at once.
        var descriptors: Int
    }

    /// The decisions to carry out after the commit.
    struct Starts: Sendable {
        var tasks: [Start] = []
        /// Tasks for brief runs. Their starts are uncommitted, and their rows are unchanged.
        var briefs: [BriefStart] = []
        /// Brief runs that other tasks would join, so that their starts have to be committed.
        var awaited: Set<TaskID> = []
        /// Transfers that tasks left for another one. They may no longer have a task.
        var abandoned: [TransferID] = []
        /// Tasks that could not be picked because their rows are damaged.
        var unreadable: [TaskID] = []
        /// The tasks of `ignoringCooldown` that have started or need no exception any more.
        var settled: Set<TaskID> = []
        /// True if more tasks have to change than one pass may change.
        var isIncomplete = false
        /// True if tasks wait for an unmetered network.
        var hasHeldOffMetered = false
        /// True if the pass ended because the next task needs more descriptors than are left.
        var lacksDescriptors = false
    }

    var scheduler: SchedulerStateMachine
    /// The running transfers by id.
    var live: [TransferID: Live]
    /// Transfers whose files and then rows are being deleted. No task is started on them.
    var beingDeleted: Set<TransferID> = []
    /// Tasks that start although their hosts cool down.
    var ignoringCooldown: Set<TaskID> = []
    /// The brief runs that a task with an equal key would join.
    var joinableBriefs: [SharingKey: TaskID] = [:]
    /// The test for brief runs, with the uncommitted starts; nil if no task may be picked for one.
    var briefs: (uncommitted: UncommittedStarts, mayBeBrief: @Sendable (TransferTask) -> Bool)?
    /// The place for the partial file of a task's new transfer.
    let place: @Sendable (TaskSpecification) -> PartialLocation
    /// The number of brief runs that fetch.
    var fetchingBriefs = 0
    let isSharedBetweenOwners: Bool
    let inputs: ConditionInputs
    let inFlight: InFlightTasks
    let isMetered: Bool
    /// The number of segments of downloads that do not set `segments`.
    let segments: SegmentCount
    var now: Timestamp
    private(set) var starts = Starts()
    /// The number of tasks that got a slot.
    private var picked = 0
    /// The number of tasks that were made to wait.
    private var deferred = 0

    /// The highest number of tasks that join one transfer in one pass. A task left to the next pass may come too late
    /// and make a request of its own.
    private static let maxJoins = 1000

    /// The highest number of kept transfers checked for bytes that a task can continue.
    private static let maxKept = 16

    init(
        scheduler: SchedulerStateMachine, live: [TransferID: Live], isSharedBetweenOwners: Bool,
        inputs: ConditionInputs,
        inFlight: InFlightTasks, isMetered: Bool, segments: SegmentCount, now: Timestamp,
        place: @escaping @Sendable (TaskSpecification) -> PartialLocation
    ) {
        self.scheduler = scheduler
        self.live = live
        self.isSharedBetweenOwners = isSharedBetweenOwners
        self.inputs = inputs
        self.inFlight = inFlight
        self.isMetered = isMetered
        self.segments = segments
        self.now = now
        self.place = place
    }

    /// Starts tasks until no slot is free. A task that can join a live transfer needs no slot.
    mutating func startAll(in tx: StoreTransaction) throws {
        // Otherwise each live transfer would be asked who joins.
        guard try tx.tasks.hasQueued() else {
            starts.settled = ignoringCooldown
            return
        }
        for (id, transfer) in live.sorted(by: { $0.key < $1.key }) {
            if isFull { break }
            try joinAll(id, transfer, in: tx)
        }
        try startIgnoringCooldown(in: tx)
        let queue = StoredQueue(
            tx, uncommitted: briefs?.uncommitted, freeSlots: scheduler.freeSlots)
        while !isFull, let id = try scheduler.next(in: queue) {
            guard let task = try StoreError.nilIfUnreadable({ try tx.tasks.find(id) }) else {
                // It could not be taken out of the queue.
                guard !starts.unreadable.contains(id) else { break }
                try tx.tasks.setAside([id])
                queue.removeUnreadable(id)
                starts.unreadable.append(id)
                deferred += 1
                continue
            }
            queue.remove(id, from: task.lane)
            // It was made to wait, or has ended, since the queue was read.
            guard task.state == .queued else { continue }
            // A run that ends returns descriptors and triggers another pass.
            guard scheduler.affords(descriptors: DescriptorRules.need(of: task.specification, segments: segments))
            else { return starts.lacksDescriptors = true }
            guard try mayStart(task, in: tx) else { continue }
            // The task could have joined earlier, but the limit of joins was reached.
            if try joinOne(task, in: tx) { return starts.isIncomplete = true }
            // The task joins it in the next pass.
            if let key = task.coalesceKey, let brief = joinableBriefs[SharingKey(key)] {
                starts.awaited.insert(brief)
                inFlight.leave(task.id)
                return
            }
            if try startBriefly(task, in: tx) {
                try queue.markServed(task.lane)
                continue
            }
            let started = try startAlone(task, in: tx)
            try queue.markServed(task.lane)
            if let started { try joinAll(started.transfer, started.live, in: tx) }
        }
        if isFull { starts.isIncomplete = true }
        // With brief runs alone nothing is written now.
        if !starts.tasks.isEmpty { try tx.settleTurns() }
    }

    /// Starts tasks that wait for their hosts' cooldowns and that their users have resumed. Their lanes are not in the
    /// rotation now, so they are started here, under the same limits.
    private mutating func startIgnoringCooldown(in tx: StoreTransaction) throws {
        for id in ignoringCooldown.sorted() where !isFull && scheduler.freeSlots > 0 {
            let task = try StoreError.nilIfUnreadable { try tx.tasks.find(id) }
            guard let task, task.state == .queued, try tx.cooldowns.end(of: task.host) != nil else {
                starts.settled.insert(id)
                continue
            }
            let need = DescriptorRules.need(of: task.specification, segments: segments)
            let group = try task.group.flatMap { try tx.groups.settings($0) }
            guard group?.isPaused != true, scheduler.mayStart(task.lane, groupLimit: group?.limits.maxActive),
                !scheduler.isRunning(id), scheduler.affords(descriptors: need)
            else { continue }
            starts.settled.insert(id)
            if try mayStart(task, in: tx), try !joinOne(task, in: tx) { _ = try startAlone(task, in: tx) }
        }
    }

    /// Starts the task on a transfer of its own. Returns the transfer if others may join it from now on.
    private mutating func startAlone(
        _ task: TransferTask, in tx: StoreTransaction
    ) throws -> (transfer: TransferID, live: Live)? {
        let (transfer, isNew) = try transfer(of: task, in: tx)
        try start(task, transfer, isNew: isNew, in: tx)
        picked += 1
        guard live[transfer.id] == nil else { return nil }
        let key = SharingRules.mayBeJoined(transfer) ? task.coalesceKey : nil
        let started = Live(key: key, owner: task.owner)
        live[transfer.id] = started
        return (transfer.id, started)
    }

    /// True if the pass has changed as many tasks as one transaction may, not counting those that joined.
    private var isFull: Bool { picked + deferred >= StoreTransaction.largestStep }

    /// Picks the task for a brief run if that is possible; see `BriefRules`.
    private mutating func startBriefly(_ task: TransferTask, in tx: StoreTransaction) throws -> Bool {
        guard let mayBeBrief = briefs?.mayBeBrief, fetchingBriefs < BriefRules.mostFetching, mayBeBrief(task) else {
            return false
        }
        if let key = task.coalesceKey {
            // Others of its key would share its transfer, and kept bytes could be continued.
            guard try !tx.tasks.hasOthers(thanTask: task.id, coalescing: key),
                try tx.transfers.list(keptUnder: key, limit: 1).isEmpty
            else { return false }
        }
        let need = DescriptorRules.need(of: task.specification, segments: segments)
        tx.addUncommittedStart(task.id)
        scheduler.onStart(task.id, of: BriefRun.place(of: task.id), from: task.lane, descriptors: need)
        fetchingBriefs += 1
        starts.briefs.append(BriefStart(task: task, descriptors: need))
        if let key = task.coalesceKey { joinableBriefs[SharingKey(key)] = task.id }
        picked += 1
        return true
    }

    private mutating func joinOne(_ task: TransferTask, in tx: StoreTransaction) throws -> Bool {
        guard let key = task.coalesceKey else { return false }
        let found = live.filter { $0.value.key == key && mayShare(task, with: $0.value) }.keys.min()
        guard let found, let transfer = try tx.transfers.find(found), try mayLeaveItsTransfer(task, in: tx) else {
            return false
        }
        try start(task, transfer, in: tx)
        return true
    }

    private mutating func joinAll(_ id: TransferID, _ joined: Live, in tx: StoreTransaction) throws {
        guard let key = joined.key else { return }
        let waiting = try tx.tasks.queued(coalescing: key, limit: Self.maxJoins)
        guard !waiting.isEmpty, let transfer = try tx.transfers.find(id) else { return }
        for task in waiting where !scheduler.isRunning(task.id) && mayShare(task, with: joined) {
            guard try mayLeaveItsTransfer(task, in: tx) else { continue }
            guard scheduler.affords(descriptors: DescriptorRules.needOfJoining) else { return }
            if try mayStart(task, in: tx) { try start(task, transfer, in: tx) }
        }
        if waiting.count + waiting.unreadable.count == Self.maxJoins { starts.isIncomplete = true }
    }

    /// Checks the task's own conditions. False if they do not let it start: then it waits, or has ended.
    private mutating func mayStart(_ task: TransferTask, in tx: StoreTransaction) throws -> Bool {
        inFlight.consider(task.id)
        if isMetered, !task.specification.request.allowsMetered {
            try tx.transition(task, at: now) { $0.onBlocked(Wait(.network)) }
            starts.hasHeldOffMetered = true
        } else if try tx.conditions.mayStart(task, inputs, at: now) {
            return true
        }
        inFlight.leave(task.id)
        deferred += 1
        return false
    }

    /// False for a task whose file may have its final name already: only its own transfer contains that fact. With
    /// another transfer it would publish a second file.
    private func mayLeaveItsTransfer(_ task: TransferTask, in tx: StoreTransaction) throws -> Bool {
        guard let id = task.transferID else { return true }
        return try tx.transfers.find(id)?.publishIntent == nil
    }

    /// True if the task may share the transfer. A key made while owners shared transfers may outlive that setting.
    private func mayShare(_ task: TransferTask, with other: Live) -> Bool {
        isSharedBetweenOwners || task.owner == other.owner
    }

    private mutating func start(
        _ task: TransferTask, _ transfer: Transfer, isNew: Bool = false, in tx: StoreTransaction
    ) throws {
        var machine = TaskStateMachine(task)
        if task.transferID != transfer.id {
            if let left = task.transferID {
                starts.abandoned.append(left)
                try tx.discardBytes(
                    of: &machine, because: "the task shares the transfer of another task from here on", at: now)
            }
            machine.onJoin(received: transfer.resumeData.committedByteCount, total: transfer.resumeData.totalLength)
        }
        let transition = machine.onStart(at: now)
        machine.subscribe(to: transfer.id)
        try tx.write(machine, transition, from: task, at: now)
        let isFirst = live[transfer.id] == nil
        let need =
            isFirst
            ? DescriptorRules.need(of: task.specification, segments: segments) : DescriptorRules.needOfJoining
        scheduler.onStart(
            task.id, of: transfer.id, from: task.lane, descriptors: need, kind: TransferMix.kind(of: task))
        starts.tasks.append(Start(task: machine.task, transfer: transfer, isNew: isNew, descriptors: need))
    }

    /// The task's own transfer, else one with kept bytes that it can continue, else a new one.
    private func transfer(
        of task: TransferTask, in tx: StoreTransaction
    ) throws -> (transfer: Transfer, isNew: Bool) {
        // The task holds it, so it is not deleted.
        if let id = task.transferID, let transfer = try tx.transfers.find(id) { return (transfer, false) }
        let place = self.place(task.specification)
        if let key = task.coalesceKey {
            for transfer in try tx.transfers.list(keptUnder: key, limit: Self.maxKept)
            where live[transfer.id] == nil && !beingDeleted.contains(transfer.id) {
                guard SharingRules.canContinue(transfer, in: place) else { continue }
                let holders = try tx.tasks.list(subscribingTo: transfer.id)
                let areOwn = holders.unreadable.isEmpty && holders.allSatisfy { $0.owner == task.owner }
                if isSharedBetweenOwners || areOwn {
                    return (transfer, false)
                }
            }
        }
        return (try tx.transfers.insert(partial: place, at: now), true)
    }
}

/// The stored queue, as the scheduler reads it in one pass.
///
/// The tasks of brief runs stay in the queue, at the head of their lanes. So a page of a lane is read beyond them once,
/// not for each pick. During a pass no lane joins the queue, so facts about lanes are read once, too, and the next
/// lanes are read together.
private final class StoredQueue: QueueIndex {
    private static let largestPage = 32
    /// The number of tasks that are read of a lane that is served once and then waits for its next turn.
    private static let smallPage = 4

    let tx: StoreTransaction
    /// The number of tasks that are read beyond the uncommitted starts: no more than may start.
    private let pageSize: Int
    private let uncommitted: UncommittedStarts?
    /// Tasks at the head of a lane that were read, are not uncommitted starts and were not removed.
    private var pages: [QueueLane: ArraySlice<TaskID>] = [:]
    /// The next lanes of a priority, in their order. No lane that is not among them comes before one of them.
    private var lanes: [Priority: ArraySlice<QueueLane>] = [:]
    /// The exclusions under which a priority has no lane.
    private var empty: [Priority: LaneExclusions] = [:]
    /// The exclusions of the last search for a lane.
    private var asked = LaneExclusions()
    /// The lane that was served last, if it is the only one of its priority, and the exclusions under which it was
    /// read.
    private var only: (lane: QueueLane, excluded: LaneExclusions)?

    init(_ tx: StoreTransaction, uncommitted: UncommittedStarts?, freeSlots: Int) {
        self.tx = tx
        self.uncommitted = uncommitted
        pageSize = min(max(freeSlots, 1), Self.largestPage)
    }

    /// Removes a task that was picked.
    func remove(_ id: TaskID, from lane: QueueLane) {
        guard let first = pages[lane]?.first else { return }
        // The picked task is the first of its page, unless running tasks precede it.
        if first == id { pages[lane]?.removeFirst() } else { pages[lane]?.removeAll { $0 == id } }
    }

    /// Removes a task that was taken out of the queue, and whose row does not contain its lane.
    func removeUnreadable(_ id: TaskID) {
        for lane in pages.keys { pages[lane]?.removeAll { $0 == id } }
    }

    /// Puts the lane at the end of the rotation.
    func markServed(_ lane: QueueLane) throws {
        if only?.lane == lane { return }
        removeFromNext(lane)
        only = try tx.queue.markServed(lane) ? nil : (lane, asked)
    }

    private func removeFromNext(_ lane: QueueLane) {
        guard let index = lanes[lane.priority]?.firstIndex(of: lane) else { return }
        lanes[lane.priority]?.remove(at: index)
    }

    func maxActive(of group: GroupKey) throws -> Int? { try tx.groups.maxActive(of: group) }

    func nextLane(priority: Priority, without excluded: LaneExclusions) throws -> QueueLane? {
        if empty[priority] == excluded { return nil }
        if let only, only.lane.priority == priority, only.excluded == excluded, pages[only.lane]?.isEmpty == false {
            return only.lane
        }
        asked = excluded
        let lane =
            try nextOfPage(priority, excluded) ?? tx.queue.nextLane(priority: priority, without: excluded)
        if lane == nil { empty[priority] = excluded }
        return lane
    }

    private func nextOfPage(_ priority: Priority, _ excluded: LaneExclusions) throws -> QueueLane? {
        guard excluded.groups.isEmpty, excluded.profiles.isEmpty else { return nil }
        if lanes[priority]?.isEmpty ?? true {
            lanes[priority] = try tx.queue.nextLanes(priority: priority, limit: pageSize)[...]
        }
        return lanes[priority]?.first { !excluded.hosts.contains($0.host) }
    }

    func heads(of lane: QueueLane, order: QueueOrder, limit: Int) throws -> [TaskID] {
        if limit == 1, let first = pages[lane]?.first { return [first] }
        let uncommittedCount = uncommitted?.count ?? 0
        if limit == 1, uncommittedCount == 0 { return try first(of: lane, order, limit: 1) }
        if limit == 1, lanes[lane.priority, default: []].count > 1 {
            let page = try first(of: lane, order, limit: Self.smallPage)
            if !page.isEmpty { return page }
        }
        let page = try first(of: lane, order, limit: max(limit, uncommittedCount) + pageSize)
        pages[lane] = page[...]
        if page.isEmpty { removeFromNext(lane) }
        return page
    }

    /// Returns the first tasks that are not uncommitted starts; `limit` counts those, too.
    private func first(of lane: QueueLane, _ order: QueueOrder, limit: Int) throws -> [TaskID] {
        let read = try tx.queue.heads(of: lane, order: order, limit: limit)
        return uncommitted?.removeUncommitted(from: read) ?? read
    }
}
