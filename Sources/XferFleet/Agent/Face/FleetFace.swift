import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import XferCore
import XferDaemon
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// The parts that the agent's handlers share. An answer to a call that changes something follows the commit in
/// PostgreSQL.
struct FleetFace: Sendable {
    let configuration: AgentConfiguration
    let database: FleetDatabase
    /// The node's xferd, for tasks' named settings.
    let daemon: LocalDaemon
    let changes: WakeSignals
    let tokens: FleetTokens
    let storages: StorageMounts
    let records = FleetRecords()
    let subscriptions = ConnectionSubscriptions()
    /// Its streams read the fleet's table: no events wait in memory.
    let eventLeases = EventLeases(perConnection: 0, perUser: 0)
    let waitedTasks = WaitedTaskCounts<String>()
    /// A copy of the node's state.
    let nodeStatus: @Sendable () -> NodeStatus
    /// Wakes the node to check for work.
    let ring: @Sendable () -> Void

    var admission: FleetAdmission { FleetAdmission(node: configuration.node) }

    /// Handlers for the methods that a fleet has, and refusals for all others of `xferd`.
    var handlers: [Handler] {
        let own =
            taskHandlers + batchHandlers + groupHandlers + eventHandlers + fleetHandlers + tokenHandlers
            + statusHandlers
        let names = Set(own.map(\.name))
        return own + MethodRegistry.documented.filter { !names.contains($0.name) }.map { Self.refusal($0) }
    }

    private static func refusal<Method: RPCMethod>(_ method: Method.Type) -> Handler {
        Handler(method) { _, _ in
            throw RPCFailure(
                .methodNotFound, "\(Method.name) is not supported in a fleet: call the xferd of the task's node",
                data: ErrorData(reason: "not_in_fleet"))
        }
    }

    /// Makes errors of the database answers of the protocol.
    func attempt<Value>(_ body: () async throws(FleetError) -> Value) async throws(RPCFailure) -> Value {
        do {
            return try await body()
        } catch {
            throw RPCFailure(error)
        }
    }

    /// Notifies the agents after a commit here.
    func changed() {
        changes.ring()
        ring()
    }

    /// All tasks by state, ended ones included.
    func counts() async throws(FleetError) -> StateCounts { try await database.tasks.counts(FleetTaskFilter()).record }

    /// Returns one task that the caller sees.
    func task(_ id: TaskID, for caller: FleetCaller) async throws(RPCFailure) -> FleetTask {
        let found = try await attempt { () throws(FleetError) in try await database.tasks.get(FleetTaskID(id.rawValue))
        }
        guard let found, caller.isOperator || found.owner == caller.name else { throw .noSuchTask(id) }
        return found
    }

    /// The tasks of these that the caller sees, in one query.
    func visibleTasks(
        _ ids: Set<TaskID>, for caller: FleetCaller, withSpecs: Bool = true
    ) async throws(RPCFailure) -> [TaskID: FleetTask] {
        let wanted = ids.sorted().map { FleetTaskID($0.rawValue) }
        let found = try await attempt { () throws(FleetError) in
            try await database.tasks.get(wanted, withSpecs: withSpecs)
        }
        var tasks: [TaskID: FleetTask] = [:]
        for task in found where caller.isOperator || task.owner == caller.name {
            tasks[TaskID(task.id.rawValue)] = task
        }
        return tasks
    }

    /// Returns these tasks, each of which the caller sees, in one query.
    func tasks(
        _ ids: Set<TaskID>, for caller: FleetCaller, withSpecs: Bool = true
    ) async throws(RPCFailure) -> [TaskID: FleetTask] {
        let tasks = try await visibleTasks(ids, for: caller, withSpecs: withSpecs)
        if let missing = ids.filter({ tasks[$0] == nil }).min() { throw .noSuchTask(missing) }
        return tasks
    }

    /// Calls `body` with each page of the tasks that match, in the order of their ids.
    func readPages(
        of filter: FleetTaskFilter, _ body: ([FleetTask]) throws(RPCFailure) -> Void
    ) async throws(RPCFailure) {
        var after: FleetTaskID?
        repeat {
            let from = after
            let page = try await attempt { () throws(FleetError) in
                try await database.tasks.list(filter, after: from, newestFirst: false, limit: 1000)
            }
            try body(page.tasks)
            after = page.next
        } while after != nil
    }

    func record(_ task: FleetTask, _ columns: TaskColumns?) -> TaskRecord {
        records.record(task, nodeStatus()).selecting(columns ?? .listing)
    }
}

extension RPCFailure {
    init(_ error: FleetError) {
        switch error {
        case .noSuchNode: self.init(.notFound, "\(error)", data: ErrorData(reason: "not_found", path: "node"))
        case .noSuchBatch: self.init(.notFound, "\(error)", data: ErrorData(reason: "not_found", path: "id"))
        case .nodeIsUp: self.init(.invalidState, "\(error)", data: ErrorData(reason: "node_is_up", path: "node"))
        case .invalid(let field, let reason):
            self.init(
                .invalidParams, "\(field): \(reason)", data: ErrorData(reason: "invalid_value", path: field))
        default:
            self.init(
                .storageUnavailable, "the fleet's database cannot be used: \(error)",
                data: ErrorData(reason: "database_unavailable"))
        }
    }
}
