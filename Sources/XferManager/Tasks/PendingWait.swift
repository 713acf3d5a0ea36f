import NIOConcurrencyHelpers
public import XferModel
import XferStore

/// A call that waits until tasks have ended. It keeps the ids of those that have not, and no rows.
public final class PendingWait: Sendable {
    private let ids: [TaskID]
    /// The number of different tasks among the ids.
    private let count: Int
    private let states: Set<TaskState>
    private let principal: Principal
    private let context: ManagerContext
    private let changed: ChangedTasks
    private let alarm: Task<Void, Never>?

    /// The highest number of tasks in one read: other readers come in between.
    private static let page = 500

    fileprivate init(
        _ ids: [TaskID], until states: Set<TaskState>, timeout: Double?, for principal: Principal,
        _ context: ManagerContext
    ) throws(ManagerError) {
        self.ids = ids
        let tasks = Set(ids)
        count = tasks.count
        self.states = states
        self.principal = principal
        self.context = context
        guard context.waitedTasks.reserve(tasks.count, for: principal.owner) else {
            throw .limitExceeded(
                reason:
                    "tasks in all open task.wait calls of this user; wait for fewer tasks at a time, or use events.subscribe",
                limit: WaitedTasks.maxPerUser)
        }
        let hub = context.hub
        // For states that a task passes through, any event may matter.
        let endsOnly = states.allSatisfy { $0.isTerminal || $0 == .staged }
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

    /// Releases what the wait occupies. To be called once.
    public func end() {
        alarm?.cancel()
        context.hub.unfollow(changed)
        context.waitedTasks.release(count, of: principal.owner)
    }

    /// Waits until each task has been seen in a state that ends the wait; false when the time was over first. May be
    /// called again if `tasks` then finds one that has left that state.
    ///
    /// - Throws: `ManagerError.notFound`, `CancellationError`.
    public func ended() async throws -> Bool {
        var unread = changed.followed
        while true {
            try await inspect(unread)
            guard !changed.followed.isEmpty else { return true }
            guard let next = await changed.next() else {
                try Task.checkCancellation()
                return false
            }
            unread = next
        }
    }

    /// Stops to follow those of these tasks that have ended.
    private func inspect(_ tasks: Set<TaskID>) async throws {
        var rest = tasks.sorted()[...]
        while !rest.isEmpty {
            let page = Array(rest.prefix(Self.page))
            rest = rest.dropFirst(page.count)
            let read = { @Sendable [context, states, principal] () async throws -> [TaskID] in
                try await context.services.store.read { reader in
                    let outlines = try reader.outlines(of: page)
                    return try page.filter { id in
                        guard let outline = outlines[id] else {
                            // It does not exist, or its row is damaged.
                            let task = try reader.visibleTask(id, to: principal)
                            return try Self.isOver(task.orThrow(id).state, states)
                        }
                        guard principal.isOperator || outline.owner == principal.owner else {
                            throw ManagerError.notFound(id)
                        }
                        return Self.isOver(outline.state, states)
                    }
                }
            }
            // What a single event concerns is read at once.
            let isShort = tasks.count == 1
            changed.unfollow(
                isShort ? try await read() : try await context.waitedTasks.inTurn(of: principal.owner, read))
        }
    }

    /// The tasks as they are now, and whether the state of each ends the wait. Those of others are followed again.
    public func tasks() async throws -> (tasks: [TransferTask], areOver: Bool) {
        let tasks = try await context.services.store.read { [ids, principal] reader in
            var known: [TaskID: TransferTask] = [:]
            return try ids.map { id in
                if let task = known[id] { return task }
                let task = try reader.visibleTask(id, to: principal).orThrow(id)
                known[id] = task
                return task
            }
        }
        let open = tasks.filter { !Self.isOver($0.state, states) }.map(\.id)
        changed.follow(open)
        return (tasks, open.isEmpty)
    }

    private static func isOver(_ state: TaskState, _ states: Set<TaskState>) -> Bool {
        state.isTerminal || state == .staged || states.contains(state)
    }
}

extension TransferTask? {
    fileprivate func orThrow(_ id: TaskID) throws(ManagerError) -> TransferTask {
        guard let task = self else { throw .notFound(id) }
        return task
    }
}

/// Counts the tasks that the open calls of `task.wait` of each user name, and lets the long ones read one at a time, the
/// users in turns.
final class WaitedTasks: Sendable {
    /// The highest number for one user; a task counts once for each call that names it.
    static let maxPerUser = 100_000

    private let counts = NIOLockedValueBox<[Owner: Int]>([:])
    private let reading = AsyncLock()

    /// Counts the tasks; false if there would be too many.
    func reserve(_ count: Int, for owner: Owner) -> Bool {
        counts.withLockedValue { counts in
            let before = counts[owner, default: 0]
            guard count <= Self.maxPerUser - before else { return false }
            counts[owner] = before + count
            return true
        }
    }

    func release(_ count: Int, of owner: Owner) {
        counts.withLockedValue { counts in
            let rest = counts[owner, default: 0] - count
            counts[owner] = rest > 0 ? rest : nil
        }
    }

    /// Runs `body` when it is the user's turn and no other one runs.
    func inTurn<Value>(of owner: Owner, _ body: () async throws -> Value) async rethrows -> Value {
        await reading.enter(for: owner)
        defer { reading.leave() }
        return try await body()
    }
}

extension TaskQueries {
    /// Begins to wait until each task is terminal or staged, or in one of `states`, for at most `timeout` seconds. The
    /// caller has to `end` it.
    ///
    /// - Throws: `ManagerError.limitExceeded`.
    public func beginWait(
        for ids: [TaskID], until states: Set<TaskState>, timeout: Double?, for principal: Principal
    ) async throws -> PendingWait {
        let wait = try PendingWait(ids, until: states, timeout: timeout, for: principal, context)
        if states.contains(.running) { await scheduler.showBriefRuns() }
        return wait
    }

    /// Waits until each task is terminal or staged, or in one of `states`, or `timeout` seconds have passed.
    public func wait(
        for ids: [TaskID], until states: Set<TaskState>, timeout: Double?, for principal: Principal
    ) async throws -> (tasks: [TransferTask], isTimedOut: Bool) {
        let wait = try await beginWait(for: ids, until: states, timeout: timeout, for: principal)
        defer { wait.end() }
        while true {
            let isTimedOut = try await !wait.ended()
            let (tasks, areOver) = try await wait.tasks()
            if areOver || isTimedOut { return (tasks, !areOver) }
        }
    }
}
