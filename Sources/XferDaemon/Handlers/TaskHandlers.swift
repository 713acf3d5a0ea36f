import JSONRPC
import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// The handlers of the methods `task.*`. They call the manager and encode its results.
struct TaskHandlers: TaskService {
    let tasks: TaskCommands
    let queries: TaskQueries
    let bytes: ByteReader
    let staging: StagedPublishing
    let operations: OperationCommands
    let owners: TaskOwners
    /// The turns of waits for many tasks.
    let turns = BulkTurns(limit: RPCLimits().bulkRequests)
    /// The turns of changes to the tasks of a filter.
    let changes = BulkTurns(limit: RPCLimits().bulkRequests)
    /// The present defaults for fields that a new task does not set.
    let defaults: @Sendable () -> TaskDefaults

    var all: [Handler] {
        commonTaskHandlers + [
            Handler(TaskCount.self) { params, context in
                TaskCount.Result(
                    counts: try await queries.counts(
                        matching: params.filter?.stored ?? TaskQuery(), for: context.caller.principal))
            },
            Handler(TaskUpdateMany.self, updateMany), Handler(TaskSetSource.self, setSource),
            Handler(TaskRead.self, read), Handler(TaskCommit.self, commit),
            Handler(TaskRecordDigest.self, recordDigest),
        ]
    }

    func add(_ params: TaskAdd.Params, _ context: CallContext) async throws -> TaskAdd.Result {
        // Before the commit: the event of the add has a higher number.
        let seq = queries.lastSeq
        switch params {
        case .one(let task):
            let principal = try owners.principal(adding: [task], by: context.caller)
            let (task, isExisting) = try await tasks.add(task, defaults(), for: principal)
            let record =
                try await TaskRecords(queries: queries).records(of: [task], .listing, findsWaits: false).first
                ?? TaskRecord(task)
            var one = TaskAdd.One(task: record, existing: isExisting)
            one.seq = seq
            return .one(one)
        case .many(let tasks):
            let principal = try owners.principal(adding: tasks, by: context.caller) { "tasks[\($0)]." }
            let added = try await self.tasks.add(tasks, defaults(), for: principal, path: { "tasks[\($0)]." })
            let existing = added.indices.filter { added[$0].isExisting }
            var many = TaskAdd.Many(ids: added.map(\.id), existing: existing)
            many.seq = seq
            return .many(many)
        }
    }

    func get(_ params: TaskGet.Params, _ context: CallContext) async throws -> TaskGet.Result {
        let task = try await queries.task(params.id, for: context.caller.principal)
        var record = try await records(of: [task], params.fields ?? .all).first ?? TaskRecord(task)
        if params.secrets == true {
            // Behind a connection over the network is a token, whose scope says nothing about secrets.
            guard context.connection.remote == nil, context.caller.owner == task.owner else {
                throw ManagerError.permissionDenied(
                    path: "secrets", reason: "only the task's owner sees its secrets, over the Unix socket")
            }
            record.reveal(task.specification)
        }
        return TaskGet.Result(task: record)
    }

    func list(_ params: TaskList.Params, _ context: CallContext) async throws -> [UInt8] {
        var page = try await queries.list(
            params.filter?.stored ?? TaskQuery(), params.order, limit: params.limit, cursor: params.cursor,
            for: context.caller.principal)
        var text = PageText()
        for record in try await records(of: page.tasks, params.fields ?? .listing) where !text.append(record) {
            page.cut(to: text.count)
            break
        }
        return text.answer(
            TaskList.Result(tasks: [], nextCursor: page.nextCursor, unreadable: page.unreadable))
    }

    /// The number of tasks above which a wait reads the tasks and makes the answer in a turn of its own.
    private static let longWait = 50

    func wait(_ params: TaskWait.Params, _ context: CallContext) async throws -> [UInt8] {
        let tasks: WaitGoal.Tasks =
            if let filter = params.filter { .matching(filter.stored) } else { .ids(params.ids ?? []) }
        let wait = try await queries.beginWait(
            for: WaitGoal(tasks, until: (params.until?.values ?? []).distinctSet(), isAny: params.any == true),
            timeout: params.timeout, for: context.caller.principal)
        defer { wait.end() }
        let columns = params.fields ?? .listing
        while true {
            let isTimedOut = try await !wait.ended()
            let isLong = params.filter != nil || params.ids?.count ?? 0 > Self.longWait
            let isOperator = context.caller.isOperator
            if isLong {
                guard await turns.acquire(for: context.connection, isPrivileged: isOperator) else {
                    throw CancellationError()
                }
            }
            defer { if isLong { turns.giveBack() } }
            let outcome = try await wait.outcome(rows: !columns.names.isEmpty)
            guard outcome.isOver || isTimedOut else { continue }
            return try await answer(outcome, columns)
        }
    }

    /// Returns as many records as fit into one answer, and the ids of the other tasks.
    private func answer(_ outcome: WaitOutcome, _ columns: TaskColumns) async throws -> [UInt8] {
        var text = PageText()
        for record in try await records(of: outcome.tasks, columns) where !text.append(record) { break }
        return text.answer(
            TaskWait.Result(
                omitted: outcome.tasks[text.count...].map(\.id) + outcome.unread, open: outcome.open,
                missing: outcome.missing, isOver: outcome.isOver))
    }

    func update(_ params: TaskUpdate.Params, _ context: CallContext) async throws -> TaskUpdate.Result {
        let task = try await tasks.update(params.id, params.changes, for: context.caller.principal)
        return TaskUpdate.Result(task: try await records(of: [task], .listing).first ?? TaskRecord(task))
    }

    func move(_ params: TaskMove.Params, _ context: CallContext) async throws -> TaskMove.Result {
        let position: MovePosition =
            switch (params.to, params.target) {
            case (.before, let target?): .before(target)
            case (.after, let target?): .after(target)
            case (.bottom, _): .bottom
            default: .top
            }
        return .ids(try await tasks.move(params.ids, to: position, for: context.caller.principal))
    }

    private func setSource(
        _ params: TaskSetSource.Params, _ context: CallContext
    ) async throws -> TaskSetSource.Result {
        let task = try await tasks.setSource(of: params.id, to: params.url, for: context.caller.principal)
        return TaskSetSource.Result(task: try await records(of: [task], .listing).first ?? TaskRecord(task))
    }

    func result(_ params: TaskResult.Params, _ context: CallContext) async throws -> TaskResult.Result {
        let page = try await bytes.result(
            of: params.id, offset: params.offset, length: Int(clamping: params.length), for: context.caller.principal)
        return TaskResult.Result(
            bytes: page.bytes, offset: page.offset, eof: page.isLast, length: page.length,
            object: page.object.flatMap { try? JSONValue(parsing: $0) })
    }

    private func read(_ params: TaskRead.Params, _ context: CallContext) async throws -> TaskRead.Result {
        let page = try await bytes.read(
            params.id, offset: params.offset, length: Int(clamping: params.length), for: context.caller.principal)
        return TaskRead.Result(
            bytes: page.bytes, offset: page.offset, eof: page.isLast, length: page.length, state: page.state,
            version: page.version)
    }

    private func recordDigest(
        _ params: TaskRecordDigest.Params, _ context: CallContext
    ) async throws -> TaskRecordDigest.Result {
        let digest = try params.checksum()
        return TaskRecordDigest.Result(
            digest: try await bytes.recordDigest(digest, of: params.id, for: context.caller.principal))
    }

    private func commit(_ params: TaskCommit.Params, _ context: CallContext) async throws -> TaskCommit.Result {
        let principal = context.caller.principal
        if let begun = try await begin(.commit, params, context) { return begun }
        if let filter = params.filter {
            return .filter(
                try await inTurn(context) { try await staging.commit(filter.stored, for: principal) })
        }
        return .ids(try await staging.commit(params.ids ?? [], for: principal))
    }

    func apply(
        _ verb: TaskVerb, to selection: TaskSelection, _ context: CallContext
    ) async throws -> SelectionResult {
        let principal = context.caller.principal
        if let begun = try await begin(verb.ofOperation, selection, context) { return begun }
        if let filter = selection.filter {
            return .filter(
                try await inTurn(context) { try await tasks.apply(verb, to: filter.stored, for: principal) })
        }
        return .ids(try await tasks.apply(verb, to: selection.ids ?? [], for: principal))
    }

    private func updateMany(
        _ params: TaskUpdateMany.Params, _ context: CallContext
    ) async throws -> TaskUpdateMany.Result {
        let principal = context.caller.principal
        guard params.background == true else {
            return .counted(
                try await inTurn(context) {
                    try await tasks.update(params.filter.stored, params.changes, for: principal)
                })
        }
        // Before the commit: the operation's events have higher numbers.
        let seq = queries.lastSeq
        let operation = try await operations.begin(
            .update, changes: params.changes, params.filter, for: principal)
        return .operation(SelectionResult.Begun(operation: operation.id, seq: seq))
    }

    func remove(_ params: TaskRemove.Params, _ context: CallContext) async throws -> SelectionResult {
        guard params.files == true else { return try await apply(.remove, to: params.selection, context) }
        if let begun = try await begin(.remove, deletesFiles: true, params.selection, context) { return begun }
        let principal = context.caller.principal
        if let filter = params.filter {
            return .filter(
                try await inTurn(context) { try await tasks.removeWithFiles(filter.stored, for: principal) })
        }
        return .ids(try await tasks.removeWithFiles(params.ids ?? [], for: principal))
    }

    /// Begins an operation if the caller requested one; else returns nil.
    private func begin(
        _ verb: OperationVerb, deletesFiles: Bool = false, _ selection: TaskSelection, _ context: CallContext
    ) async throws -> SelectionResult? {
        guard selection.background == true, let filter = selection.filter else { return nil }
        // Before the commit: the operation's events have higher numbers.
        let seq = queries.lastSeq
        let operation = try await operations.begin(
            verb, deletesFiles: deletesFiles, filter, for: context.caller.principal)
        return .operation(SelectionResult.Begun(operation: operation.id, seq: seq))
    }

    /// Runs `body`, which may change any number of tasks, when it is the caller's turn. A client that disconnects does
    /// not end its call earlier: a requested change is carried out.
    private func inTurn<Value>(
        _ context: CallContext, _ body: () async throws -> Value
    ) async throws -> Value {
        let isOperator = context.caller.isOperator
        let hasTurn = await changes.acquire(for: context.connection, isPrivileged: isOperator)
        defer { if hasTurn { changes.giveBack() } }
        return try await body()
    }

    // MARK: Records

    private func records(of tasks: [TransferTask], _ columns: TaskColumns) async throws -> [TaskRecord] {
        try await TaskRecords(queries: queries).records(of: tasks, columns)
    }
}

extension TaskVerb {
    fileprivate var ofOperation: OperationVerb {
        switch self {
        case .pause: .pause
        case .resume: .resume
        case .cancel: .cancel
        case .retry: .retry
        case .remove: .remove
        }
    }
}
