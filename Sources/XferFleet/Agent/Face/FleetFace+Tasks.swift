import JSONRPC
import StrictJSON
import XferCore
import XferDaemon
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// `task.*` of the fleet.
extension FleetFace: TaskService {
    var taskHandlers: [Handler] {
        commonTaskHandlers + [
            Handler(FleetAdd.self) { params, context in
                let place = FleetPlace(params.place)
                return try await add(params.tasks, at: place, FleetCaller(context.caller)) { "tasks[\($0)]." }
            }
        ]
    }

    // MARK: Adding

    func add(_ params: TaskAdd.Params, _ context: CallContext) async throws -> TaskAdd.Result {
        let caller = FleetCaller(context.caller)
        switch params {
        case .one(let task):
            let added = try await add([task], at: nil, caller) { _ in "" }
            guard let id = added.ids.first else { throw RPCFailure(.internalError, "nothing was added") }
            let found = try await self.task(id, for: caller)
            var one = TaskAdd.One(task: record(found, .listing), existing: !added.existing.isEmpty)
            one.seq = added.seq
            return .one(one)
        case .many(let tasks):
            return .many(try await add(tasks, at: nil, caller) { "tasks[\($0)]." })
        }
    }

    func add(
        _ tasks: [NewTask], at place: FleetPlace?, _ caller: FleetCaller, path: (Int) -> String
    ) async throws -> TaskAdd.Many {
        var admitted: [FleetNewTask] = []
        for (index, task) in tasks.enumerated() {
            admitted.append(try admission.admit(task, at: place, for: caller, path: path(index)))
        }
        try await addNamedSettings(of: tasks, to: &admitted, path: path)
        return try await insert(admitted, caller, path: path)
    }

    /// Records the definitions on this node of the policies and profiles of the tasks.
    func addNamedSettings(
        of tasks: [NewTask], to admitted: inout [FleetNewTask], path: (Int) -> String
    ) async throws {
        var known: [NamedSetting: [String: String]] = [:]
        for index in tasks.indices {
            var settings = NamedSettings()
            for setting in NamedSetting.all(in: tasks[index]) {
                let field = path(index) + setting.field
                if known[setting] == nil { known[setting] = try await digests(of: setting, path: field) }
                settings.digests[setting.field] = known[setting]
            }
            admitted[index].spec = settings.inserted(into: admitted[index].spec)
        }
    }

    private func digests(of setting: NamedSetting, path: String) async throws(RPCFailure) -> [String: String] {
        let found: [String: String]?
        do {
            found = try await daemon.digests(of: setting)
        } catch {
            throw RPCFailure(
                .storageUnavailable, "\(path): the xferd of node \(configuration.node) cannot be reached: \(error)",
                data: ErrorData(reason: "daemon_unavailable", path: path))
        }
        guard let found else {
            throw RPCFailure(
                .notFound, "\(path): node \(configuration.node) has no \(setting)",
                data: ErrorData(reason: "not_found", path: path))
        }
        return found
    }

    /// Adds tasks whose calls may be repeated; 1,000 of them are one transaction.
    func insert(
        _ tasks: [FleetNewTask], _ caller: FleetCaller, path: (Int) -> String
    ) async throws -> TaskAdd.Many {
        try await requireRoom(for: tasks, caller)
        // Before the commits: the events of the adds have higher numbers.
        let seq = try await attempt { () throws(FleetError) in try await database.events.newest() }
        var (ids, existing): ([TaskID], [Int]) = ([], [])
        for chunk in tasks.chunks(of: 1000) {
            for outcome in try await attempt({ () throws(FleetError) in try await database.tasks.add(chunk) }) {
                switch outcome {
                case .added: break
                case .existing: existing.append(ids.count)
                case .conflict(let other):
                    throw RPCFailure(
                        .conflict, "\(path(ids.count))client_key: task \(other) has it with another request",
                        data: ErrorData(
                            reason: "key_reused", path: path(ids.count) + "client_key", taskID: TaskID(other.rawValue)))
                }
                ids.append(TaskID(outcome.task.rawValue))
            }
        }
        changed()
        var added = TaskAdd.Many(ids: ids, existing: existing)
        added.seq = seq
        return added
    }

    /// Refuses tasks beyond the caller's limits. Repetitions of adds are not counted. Simultaneous adds on several nodes
    /// may exceed a limit by their own tasks.
    private func requireRoom(for tasks: [FleetNewTask], _ caller: FleetCaller) async throws {
        guard !caller.isOperator || caller.maxTasks != nil else { return }
        do {
            try await requireRoom(forNew: tasks, caller)
        } catch {
            let keys = tasks.compactMap(\.clientKey)
            guard !keys.isEmpty else { throw error }
            let existing = try await attempt { () throws(FleetError) in
                try await database.tasks.existingKeys(keys, of: caller.name)
            }
            let new = tasks.filter { task in task.clientKey.map { !existing.contains($0) } ?? true }
            guard new.count < tasks.count else { throw error }
            if !new.isEmpty { try await requireRoom(forNew: new, caller) }
        }
    }

    private func requireRoom(forNew tasks: [FleetNewTask], _ caller: FleetCaller) async throws(RPCFailure) {
        if let maxTasks = caller.maxTasks {
            var filter = FleetTaskFilter()
            filter.owner = caller.name
            let wanted = filter
            let counts = try await attempt { () throws(FleetError) in try await database.tasks.counts(wanted) }
            let unfinished = counts.byState.filter { !$0.key.isEnd }.values.saturatedSum
            guard unfinished.addingSaturated(Int64(clamping: tasks.count)) <= Int64(clamping: maxTasks) else {
                throw Self.limitExceeded(
                    "this user has \(unfinished) unfinished tasks in the fleet, the highest number is \(maxTasks) (max_tasks)",
                    Int64(clamping: maxTasks))
            }
        }
        guard !caller.isOperator else { return }
        let limit = configuration.settings.service.maxStoredPerUser
        let added = tasks.map(\.spec.utf8.count).filter { $0 >= FleetTaskTable.longSpecification }
        let stored = try await attempt { () throws(FleetError) in
            try await database.tasks.storedBytes(of: caller.name)
        }.addingSaturated(added.map { Int64(clamping: $0) }.saturatedSum)
        guard stored <= limit else {
            throw Self.limitExceeded(
                "at most \(limit) bytes may be stored in the fleet for this user's tasks (access.max_stored), it would be \(stored): remove ended tasks, or send contents from files",
                limit)
        }
    }

    private static func limitExceeded(_ message: String, _ limit: Int64) -> RPCFailure {
        RPCFailure(.limitExceeded, message, data: ErrorData(reason: "limit_exceeded", limit: limit))
    }

    // MARK: Reading

    func get(_ params: TaskGet.Params, _ context: CallContext) async throws -> TaskGet.Result {
        guard params.secrets != true else {
            throw Self.unsupported("secrets", "a fleet stores no secrets of its tasks")
        }
        let found = try await task(params.id, for: FleetCaller(context.caller))
        return TaskGet.Result(task: record(found, params.fields ?? .all))
    }

    func list(_ params: TaskList.Params, _ context: CallContext) async throws -> [UInt8] {
        let caller = FleetCaller(context.caller)
        guard params.order != .queue else {
            throw RPCFailure(
                .invalidParams, "order: a fleet has no order over all nodes, expected asc or desc",
                data: ErrorData(reason: "not_in_fleet", path: "order", expected: "asc or desc"))
        }
        let after = try params.cursor.map { cursor throws(RPCFailure) in
            guard let id = Int64(cursor, radix: 10), id > 0 else {
                throw RPCFailure(
                    .invalidParams, "cursor: it belongs to no list of a fleet's tasks",
                    data: ErrorData(reason: "invalid_value", path: "cursor", expected: "the next_cursor of an answer"))
            }
            return FleetTaskID(id)
        }
        if let ids = try Self.ids(of: params.filter) { return try await list(ids, after: after, params, caller) }
        let filter = try filter(params.filter, caller)
        let page = try await attempt { () throws(FleetError) in
            try await database.tasks.list(
                filter, after: after, newestFirst: params.order == .descending, limit: params.limit)
        }
        return try await text(page.tasks, params.fields, next: page.next.map { String($0.rawValue) })
    }

    /// A page of tasks. Its cursor is the last task's id.
    private func text(_ tasks: [FleetTask], _ columns: TaskColumns?, next: String?) async throws -> [UInt8] {
        let text = try await records(of: tasks, columns)
        let isWhole = text.count == tasks.count
        return text.answer(
            TaskList.Result(tasks: [], nextCursor: isWhole ? next : String(tasks[text.count - 1].id.rawValue)))
    }

    /// Records of the first of these tasks, as many as fit into one answer. Pages of tables have no specifications, so
    /// these are read one by one if their fields are requested.
    func records(of tasks: [FleetTask], _ columns: TaskColumns?) async throws -> PageText {
        let wanted = columns ?? .listing
        let hasThem = ["url", "output", "dir", "kind", "meta", "method"].contains { wanted.contains($0) }
        var text = PageText()
        for task in tasks {
            let whole =
                hasThem ? try await attempt { () throws(FleetError) in try await database.tasks.get(task.id) } : nil
            guard text.append(record(whole ?? task, columns)) else { break }
        }
        return text
    }

    private func list(
        _ ids: [TaskID], after: FleetTaskID?, _ params: TaskList.Params, _ caller: FleetCaller
    ) async throws -> [UInt8] {
        let isAscending = params.order == .ascending
        let wanted = Set(ids).filter { id in
            after.map { isAscending ? id.rawValue > $0.rawValue : id.rawValue < $0.rawValue } ?? true
        }
        let order = isAscending ? wanted.sorted() : wanted.sorted().reversed()
        let page = Array(order.prefix(params.limit))
        // Removed tasks are left out.
        let found = try await visibleTasks(Set(page), for: caller, withSpecs: false)
        return try await text(
            page.compactMap { found[$0] }, params.fields,
            next: order.count > page.count ? page.last.map { String($0.rawValue) } : nil)
    }

    /// The ids that a filter consists of, or nil if it has none.
    ///
    /// - Throws: if it has other conditions, too, which would be left out.
    static func ids(of filter: TaskFilter?) throws(RPCFailure) -> [TaskID]? {
        guard let filter, let ids = filter.ids else { return nil }
        var alone = TaskFilter()
        alone.ids = ids
        guard filter == alone else {
            throw unsupported("filter.ids", "in a fleet, ids and other conditions exclude each other")
        }
        return ids.values
    }

    /// Reads a filter.
    ///
    /// - Throws: for conditions that the fleet's tables do not have.
    func filter(_ filter: TaskFilter?, _ caller: FleetCaller) throws(RPCFailure) -> FleetTaskFilter {
        var result = FleetTaskFilter()
        result.owner = caller.visibleOwner
        guard let filter else { return result }
        result.states = filter.state.map { Set($0.values.flatMap { FleetTaskState.states($0) }) }
        result.group = try Self.single(filter.group, "group")
        result.label = try Self.single(filter.label, "label")
        result.host = try Self.single(filter.host, "host").map { HostSelector($0) }
        if let host = result.host, host.scheme != nil {
            throw Self.unsupported("filter.host", "a fleet does not select by a scheme's own port; give \(host.name)")
        }
        if let owner = try Self.single(filter.owner, "owner") {
            let name = AccountDirectory.name(of: owner.rawValue) ?? String(owner.rawValue)
            guard caller.isOperator || name == caller.name else {
                throw RPCFailure(
                    .notFound, "owner: you may list only your own tasks",
                    data: ErrorData(reason: "not_found", path: "owner"))
            }
            result.owner = name
        }
        if filter.slot != nil { throw Self.unsupported("filter.slot", "slots are not supported in a fleet") }
        if filter.hasLaterCondition {
            throw Self.unsupported("filter", "a fleet selects by state, group, label, host, owner, batch and ids")
        }
        result.batch = try Self.single(filter.batch, "batch").map { FleetBatchID($0.rawValue) }
        if filter.kind != nil { throw Self.unsupported("filter.kind", "a fleet does not select by kind") }
        return result
    }

    private static func single<Value: WireValue>(_ values: OneOrMany<Value>?, _ name: String) throws(RPCFailure)
        -> Value?
    {
        guard let values else { return nil }
        guard values.values.count == 1 else { throw unsupported("filter.\(name)", "one \(name) at a time in a fleet") }
        return values.values[0]
    }

    static func unsupported(_ path: String, _ reason: String) -> RPCFailure {
        RPCFailure(.invalidParams, "\(path): \(reason)", data: ErrorData(reason: "not_in_fleet", path: path))
    }

    func result(_ params: TaskResult.Params, _ context: CallContext) async throws -> TaskResult.Result {
        let found = try await task(params.id, for: FleetCaller(context.caller))
        let bytes = try await attempt { () throws(FleetError) in try await database.tasks.result(found.id) }
        guard let bytes else {
            throw RPCFailure(
                .notFound, "the fleet keeps no result of task \(params.id): it may be on node \(found.node ?? "?")",
                data: ErrorData(reason: "no_result", path: "id", taskID: params.id))
        }
        let start = min(Int(clamping: params.offset), bytes.count)
        let end = min(start + Int(clamping: params.length), bytes.count)
        return TaskResult.Result(
            bytes: Array(bytes[start..<end]), offset: params.offset, eof: end == bytes.count,
            length: Int64(clamping: bytes.count), object: nil)
    }
}
