import NIOConcurrencyHelpers
import XferCore
public import XferModel
public import XferProtocol
import XferStore

/// Reads tasks, events and counts for callers. It changes nothing.
public struct TaskQueries: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler

    /// A task, if it exists and the caller may see it.
    public func task(_ id: TaskID, for principal: Principal) async throws -> TransferTask {
        do {
            guard let task = try await store.readStates({ try $0.visibleTask(id, to: principal) }) else {
                throw ManagerError.notFound(id)
            }
            return task
        } catch let error as StoreError {
            guard case .unreadable = error else { throw error }
            context.recordDamage([id])
            let damaged = try await store.read { try $0.tasks.findDamaged(id) }
            guard principal.isOperator || damaged?.owner == principal.owner else { throw ManagerError.notFound(id) }
            guard let damaged else { throw error }
            throw ManagerError.invalidState(
                id, damaged.state,
                reason:
                    "its row in the database is damaged; cancel and remove it, or stop xferd and run xferd --recover")
        }
    }

    /// True if kept bytes of these tasks can be continued after an interruption. Tasks for which that is unknown are
    /// left out.
    public func resumability(of tasks: [TransferTask]) async throws -> [TaskID: Bool] {
        var known: [TaskID: Bool] = [:]
        var stored: [TransferTask] = []
        let live = await scheduler.resumability(of: tasks.map(\.id))
        for task in tasks where task.transferID != nil {
            if let isResumable = live[task.id] { known[task.id] = isResumable } else { stored.append(task) }
        }
        guard !stored.isEmpty else { return known }
        return try await store.read { [known, stored] reader in
            try stored.reduce(into: known) { known, task in
                guard
                    let transfer = try StoreError.nilIfUnreadable({
                        try task.transferID.flatMap { try reader.transfers.find($0) }
                    })
                else { return }
                let (specification, use) = (task.specification, transfer.sourceUse)
                let isUnderDigest = specification.checksum?.algorithm.isStrong == true && use.suspects.isEmpty
                known[task.id] = ResumeRules.isResumable(
                    transfer.resumeData, allowsUnsafe: specification.resumesUnsafely || isUnderDigest)
            }
        }
    }

    /// The measurements of the present or last attempts of the running tasks among these.
    public func traces(of ids: [TaskID]) async -> [TaskID: AttemptTrace] { await scheduler.traces(of: ids) }

    /// The files of the staged tasks among these, with their directories.
    public func stagedFiles(of tasks: [TransferTask]) async throws -> [TaskID: (file: ReadyFile, directory: String)] {
        let staged = tasks.filter { $0.state == .staged }
        guard !staged.isEmpty else { return [:] }
        return try await store.read { reader in
            try staged.reduce(into: [:]) { known, task in
                guard let file = try StoreError.nilIfUnreadable({ try reader.readyFiles.find(of: task.id) }),
                    let transfer = try StoreError.nilIfUnreadable({
                        try task.transferID.flatMap { try reader.transfers.find($0) }
                    })
                else { return }
                known[task.id] = (file, transfer.partial.directory)
            }
        }
    }

    /// The kept segments of these downloads, as committed; none for completed ones.
    public func segments(of tasks: [TransferTask]) async throws -> [TaskID: [Segment]] {
        let kept = tasks.filter { $0.specification.kind == .download && $0.transferID != nil && $0.state != .completed }
        guard !kept.isEmpty else { return [:] }
        return try await store.read { [kept] reader in
            try kept.reduce(into: [:]) { known, task in
                guard
                    let transfer = try StoreError.nilIfUnreadable({
                        try task.transferID.flatMap { try reader.transfers.find($0) }
                    })
                else { return }
                known[task.id] = transfer.resumeData.segments
            }
        }
    }

    /// The known digests of the files that these tasks have published.
    public func publishedDigests(of tasks: [TransferTask]) async throws -> [TaskID: Checksum] {
        let published = tasks.filter { $0.state == .completed && $0.specification.kind == .download }.map(\.id)
        guard !published.isEmpty else { return [:] }
        return try await store.read { reader in
            try published.reduce(into: [:]) { known, id in
                known[id] = try StoreError.nilIfUnreadable { try reader.publishedFiles.digest(of: id) }
            }
        }
    }

    /// The latest event of each of these downloads about discarded bytes.
    public func discards(of tasks: [TransferTask]) async throws -> [TaskID: Event] {
        let downloads = tasks.filter { $0.specification.kind == .download && $0.startedAt != nil }.map(\.id)
        guard !downloads.isEmpty else { return [:] }
        return try await store.read { reader in
            try downloads.reduce(into: [:]) { known, id in
                known[id] = try StoreError.nilIfUnreadable {
                    try reader.events.last(of: id, types: [.taskSourceChanged, .taskBytesDiscarded])
                }
            }
        }
    }

    /// The reasons for which queued ones of these tasks wait beside their turn; none for tasks that may start next.
    public func waits(of tasks: [TransferTask]) async throws -> [TaskID: Wait] {
        let queued = tasks.filter { $0.state == .queued }
        guard !queued.isEmpty else { return [:] }
        let lanes = queued.reduce(into: [TaskID: QueueLane]()) { lanes, task in
            lanes[task.id] = QueueLane(
                priority: task.specification.priority, group: task.group, profile: task.specification.profile,
                host: task.host)
        }
        let facts = try await store.read { reader -> LaneFacts in
            var facts = LaneFacts()
            let cools = try reader.cooldowns.earliestEnd() != nil
            for host in cools ? Set(lanes.values.map(\.host)) : [] {
                facts.cooldowns[host] = try reader.cooldowns.find(of: host)
            }
            for group in Set(lanes.values.compactMap(\.group)) {
                guard let settings = try reader.groups.settings(group) else { continue }
                facts.groupLimits[group] = settings.limits.maxActive
                if settings.isPaused { facts.pausedGroups.insert(group) }
            }
            return facts
        }
        let obstacles = await scheduler.obstacles(to: Set(lanes.values), groupLimits: facts.groupLimits)
        let ending = await scheduler.endingRuns(among: queued.map(\.id))
        var waits: [TaskID: Wait] = [:]
        for task in queued {
            guard let lane = lanes[task.id] else { continue }
            if obstacles[lane]?.reason == .queuePaused {
                waits[task.id] = Wait(.queuePaused)
            } else if let group = lane.group, facts.pausedGroups.contains(group) {
                waits[task.id] = Wait(.groupPaused)
            } else if let cooldown = facts.cooldowns[lane.host], cooldown.until != HostCooldown.over {
                waits[task.id] = Wait(.hostCooldown, until: cooldown.until, url: url(of: cooldown, for: task.owner))
            } else {
                waits[task.id] = ending.contains(task.id) ? Wait(.runEnding) : obstacles[lane]
            }
        }
        return waits
    }

    /// The URL whose answer set the cooldown, unless it is another guest's.
    private func url(of cooldown: HostCooldown, for owner: Owner) -> String? {
        guard let cause = cooldown.cause, cause.owner == owner || settings.isOperator(owner) else { return nil }
        return cause.url
    }

    /// The database's facts about lanes.
    private struct LaneFacts: Sendable {
        /// Hosts with a cooldown, which get no requests now.
        var cooldowns: [String: HostCooldown] = [:]
        var groupLimits: [GroupKey: Int] = [:]
        var pausedGroups: Set<GroupKey> = []
    }

    /// Counts the matching tasks that exist at the call and that the caller may see, by state.
    public func counts(matching filter: TaskQuery, for principal: Principal) async throws -> [TaskState: Int64] {
        let filter = filter.restricted(to: principal)
        if let counted = try await store.readStates({ try $0.tasks.keptCounts(matching: filter) }) { return counted }
        guard let last = try await store.read({ try $0.tasks.lastID() }) else { return [:] }
        var counts: [TaskState: Int64] = [:]
        var after: TaskID?
        repeat {
            // A read of its own for each step: others come in between.
            let page = try await store.readStates { [after] in
                try $0.tasks.countPage(matching: filter, after: after, upTo: last)
            }
            counts.merge(page.counts) { $0.addingSaturated($1) }
            after = page.reached
        } while after != nil
        return counts
    }

    /// Returns one page of tasks.
    public func list(
        _ filter: TaskQuery, _ order: TaskList.Order, limit: Int, cursor: String?, for principal: Principal
    ) async throws -> TaskPage {
        try await list(filter, order, within: PageBounds(limit: limit), cursor: cursor, for: principal)
    }

    public func list(
        _ filter: TaskQuery, _ order: TaskList.Order, within bounds: PageBounds, cursor: String?,
        for principal: Principal
    ) async throws -> TaskPage {
        let filter = filter.restricted(to: principal)
        do {
            let page: TaskPage
            if order == .queue {
                let order = await scheduler.activity.limits.order
                page = try await store.readStates {
                    try $0.queue.list(filter, order: order, within: bounds, cursor: cursor)
                }
            } else {
                page = try await store.readStates {
                    try $0.tasks.list(filter, ascending: order == .ascending, within: bounds, cursor: cursor)
                }
            }
            context.recordDamage(page.unreadable, sound: page.tasks.map(\.id))
            return page
        } catch StoreError.invalidCursor {
            throw ManagerError.invalidField(
                path: "cursor", reason: "it does not belong to this filter and order",
                expected: "the next_cursor of an answer to the same filter and order")
        }
    }

    /// The number of the newest event that was delivered.
    public var lastSeq: Int64 { context.hub.lastSeq }

    /// Tasks by state, of all owners.
    public func counts() async throws -> [TaskState: Int64] {
        return try await store.readStates { try $0.counts.byState() }
    }

    /// The reason why the database keeps tasks from starting: it cannot be written, a trust policy in it cannot be read,
    /// or one in it conflicts with the configuration's; nil while it does not.
    public var databaseProblem: String? {
        store.degradation.map { "the daemon cannot write its database: \($0)" }
            ?? services.policies.withLockedValue(\.damaged).first.map {
                "the \($0) in the daemon's database is damaged"
            }
            ?? ManagerContext.conflict(of: services.policies)
    }

    /// The reason why the service is degraded, for operators; nil while it is not.
    public var degradation: String? { context.degradation }

    /// Counters of the running ones among these tasks.
    public func progress(of ids: [TaskID]) async -> [TaskID: ProgressSnapshot] { await scheduler.progress(of: ids) }

    /// Counters of every running task that this owner may see, or of all tasks (nil), ascending by id.
    public func progressOfAll(visibleTo owner: Owner?) async -> [ProgressSnapshot] {
        await scheduler.progressOfAll(visibleTo: owner)
    }

    /// The events as of `events(since:_:within:)`, with no bound but the number of events.
    func events(since seq: Int64, _ filter: EventFilter, limit: Int) async throws -> EventPage {
        try await events(since: seq, filter, within: PageBounds(limit: limit, scan: .max, bytes: .max))
    }

    /// Events after `seq`; `gap` if some of them have been trimmed.
    public func events(since seq: Int64, _ filter: EventFilter, within bounds: PageBounds) async throws -> EventPage {
        try await store.read { reader in
            let last = try reader.events.lastSeq()
            let first = try reader.events.firstSeq() ?? last.addingSaturated(1)
            guard seq.addingSaturated(1) >= first else { return .gap(firstSeq: first, lastSeq: last) }
            let page = try reader.events.page(
                since: seq, types: filter.types, taskIDs: filter.taskIDs, owner: filter.owner, within: bounds)
            return .events(page.events, reached: page.reached)
        }
    }
}

/// The result of `events(since:)`.
public enum EventPage: Sendable {
    /// A page of events; `reached` is the number after which the next page begins. A page may have fewer events than
    /// its limit, even none, although `reached` is not that of the newest event.
    case events([Event], reached: Int64)
    /// Events after the requested number have been trimmed.
    case gap(firstSeq: Int64, lastSeq: Int64)
}
