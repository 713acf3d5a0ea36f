import NIOConcurrencyHelpers
public import XferModel
import XferStore

/// The tasks of a wait, and the condition that ends it.
public struct WaitGoal: Hashable, Sendable {
    public enum Tasks: Hashable, Sendable {
        case ids([TaskID])
        /// The tasks that match when the wait begins and have not ended.
        case matching(TaskQuery)
    }

    public var tasks: Tasks
    /// States that end the wait for a task, in addition to the terminal ones and staged.
    public var states: Set<TaskState>
    /// True if one task's end is enough.
    public var isAny: Bool

    public init(_ tasks: Tasks, until states: Set<TaskState> = [], isAny: Bool = false) {
        self.tasks = tasks
        self.states = states
        self.isAny = isAny
    }

    func isOver(_ state: TaskState) -> Bool { state.isTerminal || state == .staged || states.contains(state) }
}

/// The state of a wait's tasks, in one state of the database.
public struct WaitOutcome: Hashable, Sendable {
    /// The rows of tasks, in the order of the ids: of all if they were wanted and need no more memory than a page.
    public var tasks: [TransferTask] = []
    /// Tasks whose rows were requested but not read, so that they are not in `tasks`.
    public var unread: [TaskID] = []
    /// Tasks whose state does not end the wait.
    public var open: [TaskID] = []
    /// Ids that belong to no task of the caller's, and those of tasks that were removed meanwhile.
    public var missing: [TaskID] = []
    /// True if the goal is reached.
    public var isOver = false
}

/// A call that waits until tasks have ended. It keeps the ids of the unfinished ones, and no rows.
public final class PendingWait: Sendable {
    private let ids: [TaskID]
    /// The number of different tasks among the ids.
    private let count: Int
    private let goal: WaitGoal
    private let principal: Principal
    private let context: ManagerContext
    private let changed: ChangedTasks
    private let alarm: Task<Void, Never>?

    /// The highest number of tasks in one read, so that other readers get their turns in between.
    private static let page = 500

    fileprivate init(
        _ ids: [TaskID], _ goal: WaitGoal, timeout: Double?, for principal: Principal, _ context: ManagerContext
    ) throws(ManagerError) {
        self.ids = ids
        let tasks = ids.distinctSet()
        count = tasks.count
        self.goal = goal
        self.principal = principal
        self.context = context
        guard context.waitedTasks.reserve(tasks.count, for: principal.owner) else { throw .tooManyWaitedTasks }
        let hub = context.hub
        // For states that a task passes through, any event may matter.
        let endsOnly = goal.states.allSatisfy { $0.isTerminal || $0 == .staged }
        let changed = hub.follow(tasks, types: endsOnly ? Self.ends : nil)
        self.changed = changed
        alarm = timeout.map { seconds in
            Task {
                try? await Task.sleep(for: .seconds(seconds), clock: .continuous)
                changed.end()
            }
        }
    }

    private static let ends = Set(
        EventType.allCases.filter { $0.isTerminal || $0 == .taskStaged || $0 == .taskRemoved })

    /// Releases the resources of the wait. Call it once.
    public func end() {
        alarm?.cancel()
        context.hub.unfollow(changed)
        context.waitedTasks.release(count, of: principal.owner)
    }

    /// Waits until tasks have been seen in states that reach the goal; false when the time was over first. May be
    /// called again if `outcome` then finds that one has left that state.
    ///
    /// - Throws: `CancellationError`, `ManagerError.shuttingDown`.
    public func ended() async throws -> Bool {
        var unread = changed.followed
        while true {
            try await inspect(unread)
            let open = changed.followed.count
            guard open > 0, !goal.isAny || open == count else { return true }
            guard let next = await changed.next() else {
                try Task.checkCancellation()
                if context.hub.refusesFollowers { throw ManagerError.shuttingDown }
                return false
            }
            unread = next
        }
    }

    /// Stops following the tasks among these that have ended or were removed.
    private func inspect(_ tasks: Set<TaskID>) async throws {
        var rest = tasks.sorted()[...]
        while !rest.isEmpty {
            let page = Array(rest.prefix(Self.page))
            rest = rest.dropFirst(page.count)
            let read = { @Sendable [context, goal, principal] () async throws -> [TaskID] in
                try await context.services.store.read { reader in
                    let states = try reader.states(of: page, visibleTo: principal)
                    return page.filter { id in states[id].map(goal.isOver) ?? true }
                }
            }
            // What a single event concerns is read at once.
            let isShort = tasks.count == 1
            changed.unfollow(
                isShort ? try await read() : try await context.waitedTasks.inTurn(of: principal.owner, read))
        }
    }

    /// The present tasks. If the goal is not reached, the unfinished ones are followed again.
    ///
    /// - Parameter rows: true to read their rows, too.
    public func outcome(rows: Bool) async throws -> WaitOutcome {
        let outcome = try await context.services.store.read { [ids, goal, principal] reader in
            var outcome = WaitOutcome()
            var seen: Set<TaskID> = []
            for start in stride(from: 0, to: ids.count, by: Self.page) {
                let page = ids[start..<min(start + Self.page, ids.count)].filter { seen.insert($0).inserted }
                let states = try reader.states(of: page, visibleTo: principal)
                for id in page {
                    guard let state = states[id] else {
                        outcome.missing.append(id)
                        continue
                    }
                    if !goal.isOver(state) { outcome.open.append(id) }
                }
            }
            let ended = seen.count - outcome.open.count
            outcome.isOver = outcome.open.isEmpty || goal.isAny && ended > 0
            guard rows else { return outcome }
            try reader.read(ids, except: Set(outcome.missing), into: &outcome)
            return outcome
        }
        if !outcome.isOver { changed.follow(outcome.open) }
        return outcome
    }
}

extension StoreReader {
    /// The states of the tasks among these that exist and that the caller may see.
    fileprivate func states(
        of ids: [TaskID], visibleTo principal: Principal
    ) throws -> [TaskID: TaskState] {
        let outlines = try tasks.outlines(of: ids)
        var states: [TaskID: TaskState] = [:]
        for id in ids {
            if let outline = outlines[id] {
                if principal.isOperator || outline.owner == principal.owner { states[id] = outline.state }
            } else if let task = try StoreError.nilIfUnreadable({
                // It does not exist, or what an outline has of its row is damaged.
                try visibleTask(id, to: principal)
            }) {
                states[id] = task.state
            }
        }
        return states
    }

    /// Reads the rows of these tasks, as many as fit in one page.
    fileprivate func read(
        _ ids: [TaskID], except missing: Set<TaskID>, into outcome: inout WaitOutcome
    ) throws {
        var left = PageBounds(limit: ids.count).bytes
        var last: TransferTask?
        for id in ids where !missing.contains(id) {
            if last?.id != id {
                guard left > 0, let task = try StoreError.nilIfUnreadable({ try self.tasks.find(id) }) else {
                    outcome.unread.append(id)
                    continue
                }
                last = task
                left = left.subtractingSaturated(task.variableBytes)
            }
            if let last { outcome.tasks.append(last) }
        }
    }
}

/// Counts the tasks in the open calls of `task.wait` of each user.
public final class WaitedTaskCounts<User: Hashable & Sendable>: Sendable {
    private let counts = NIOLockedValueBox<[User: Int]>([:])

    public init() {}

    /// Counts the tasks; false if there would be too many (`ManagerError.tooManyWaitedTasks`).
    public func reserve(_ count: Int, for user: User) -> Bool {
        counts.withLockedValue { counts in
            let before = counts[user, default: 0]
            guard count <= WaitedTasks.maxPerUser - before else { return false }
            counts[user] = before + count
            return true
        }
    }

    public func release(_ count: Int, of user: User) {
        counts.withLockedValue { counts in
            let rest = counts[user, default: 0] - count
            counts[user] = rest > 0 ? rest : nil
        }
    }
}

extension ManagerError {
    /// The refusal of a call of `task.wait`, because the open calls of its user would wait for too many tasks.
    public static let tooManyWaitedTasks = ManagerError.limitExceeded(
        reason:
            "tasks in all open task.wait calls of this user; wait for fewer tasks at a time, or use events.subscribe",
        limit: WaitedTasks.maxPerUser)
}

/// Counts the tasks in the open calls of `task.wait` of each user, and makes the long calls read one at a time; the
/// users take turns.
final class WaitedTasks: Sendable {
    /// The highest number for one user; a task counts once for each call that waits for it.
    static let maxPerUser = 100_000

    private let counts = WaitedTaskCounts<Owner>()
    private let reading = AsyncLock()

    /// Counts the tasks; false if there would be too many.
    func reserve(_ count: Int, for owner: Owner) -> Bool { counts.reserve(count, for: owner) }

    func release(_ count: Int, of owner: Owner) { counts.release(count, of: owner) }

    /// Runs `body` when it is the user's turn and no other one runs.
    func inTurn<Value>(of owner: Owner, _ body: () async throws -> Value) async rethrows -> Value {
        await reading.enter(for: owner)
        defer { reading.leave() }
        return try await body()
    }
}

extension TaskQueries {
    /// Begins to wait for a goal, for at most `timeout` seconds. The caller has to `end` it.
    ///
    /// - Throws: `ManagerError.limitExceeded`.
    public func beginWait(
        for goal: WaitGoal, timeout: Double?, for principal: Principal
    ) async throws -> PendingWait {
        let ids: [TaskID]
        switch goal.tasks {
        case .ids(let named): ids = named
        case .matching(let filter): ids = try await openTasks(filter, goal, for: principal)
        }
        let wait = try PendingWait(ids, goal, timeout: timeout, for: principal, context)
        if goal.states.contains(.running) { await scheduler.showBriefRuns() }
        return wait
    }

    /// Returns the matching tasks that have not reached the goal.
    private func openTasks(
        _ filter: TaskQuery, _ goal: WaitGoal, for principal: Principal
    ) async throws -> [TaskID] {
        var filter = filter
        filter.states = (filter.states ?? TaskState.allCases).filter { !goal.isOver($0) }
        var ids: [TaskID] = []
        try await forEachStep(of: filter, for: principal, atMost: StoreTransaction.largestStepAlike) { step in
            ids += step
            guard ids.count <= WaitedTasks.maxPerUser else { throw ManagerError.tooManyWaitedTasks }
        }
        return ids
    }

    /// Waits until each task is terminal or staged, or in one of `states`, or `timeout` seconds have passed. Returns
    /// the tasks of which there are rows.
    func wait(
        for ids: [TaskID], until states: Set<TaskState>, timeout: Double?, for principal: Principal
    ) async throws -> (tasks: [TransferTask], isTimedOut: Bool) {
        let outcome = try await wait(for: WaitGoal(.ids(ids), until: states), timeout: timeout, for: principal)
        return (outcome.tasks, !outcome.isOver)
    }

    /// Waits for a goal, or until `timeout` seconds have passed.
    func wait(for goal: WaitGoal, timeout: Double?, for principal: Principal) async throws -> WaitOutcome {
        let wait = try await beginWait(for: goal, timeout: timeout, for: principal)
        defer { wait.end() }
        while true {
            let isTimedOut = try await !wait.ended()
            let outcome = try await wait.outcome(rows: true)
            if outcome.isOver || isTimedOut { return outcome }
        }
    }
}
