import JSONRPC
import StrictJSON
import XferCore
import XferDaemon
import XferManager
import XferModel
import XferProtocol

/// Changes of tasks of the fleet: the verbs of `task.*`, `task.update` and `task.move`.
extension FleetFace {
    func apply(
        _ verb: TaskVerb, to selection: TaskSelection, _ context: CallContext
    ) async throws -> SelectionResult {
        let wish: FleetWish =
            switch verb {
            case .pause: .pause
            case .resume: .resume
            case .cancel: .cancel
            case .retry: .retry
            case .remove: .remove
            }
        return try await apply(wish, to: selection, FleetCaller(context.caller))
    }

    func remove(_ params: TaskRemove.Params, _ context: CallContext) async throws -> SelectionResult {
        guard params.files != true else {
            throw RPCFailure(
                .invalidParams,
                "files: the files of a fleet's tasks are on their nodes and are not deleted from here",
                data: ErrorData(reason: "not_in_fleet", path: "files", expected: "the field left out"))
        }
        return try await apply(.remove, to: params.selection, context)
    }

    private func apply(
        _ wish: FleetWish, to selection: TaskSelection, _ caller: FleetCaller
    ) async throws -> SelectionResult {
        guard selection.background != true else {
            throw Self.unsupported("background", "a fleet applies a verb before it answers; leave the field out")
        }
        if let ids = try selection.ids ?? Self.ids(of: selection.filter) {
            return .ids(try await apply(wish, to: ids, caller))
        }
        let filter = try filter(selection.filter, caller)
        var (changedCount, unchanged): (Int64, Int64) = (0, 0)
        var ids: [FleetTaskID] = []
        try await readPages(of: filter) { ids += $0.map(\.id) }
        for chunk in ids.chunks(of: 1000) {
            for outcome in try await outcomes(wish, chunk, caller) {
                if outcome.hasEffect { changedCount += 1 } else { unchanged += 1 }
            }
        }
        return .filter(
            SelectionResult.Counted(changedCount: Int(clamping: changedCount), unchangedCount: Int(clamping: unchanged))
        )
    }

    func apply(_ wish: FleetWish, to ids: [TaskID], _ caller: FleetCaller) async throws -> SelectionResult.Listed {
        var result = SelectionResult.Listed()
        for chunk in ids.chunks(of: 1000) {
            for outcome in try await outcomes(wish, chunk.map { FleetTaskID($0.rawValue) }, caller) {
                let id = TaskID(outcome.task.rawValue)
                if outcome.hasEffect {
                    result.changed.append(id)
                } else if let state = outcome.state, outcome.verdict != .noSuchTask {
                    result.unchanged.append(SelectionResult.Unchanged(id: id, state: state.local))
                } else {
                    result.missing.append(id)
                }
            }
        }
        return result
    }

    private func outcomes(
        _ wish: FleetWish, _ ids: [FleetTaskID], _ caller: FleetCaller
    ) async throws -> [FleetWishOutcome] {
        let outcomes = try await attempt { () throws(FleetError) in
            try await database.tasks.wish(wish, by: caller.wisher, for: .tasks(ids))
        }
        changed()
        return outcomes
    }

    func update(_ params: TaskUpdate.Params, _ context: CallContext) async throws -> TaskUpdate.Result {
        let caller = FleetCaller(context.caller)
        _ = try await task(params.id, for: caller)
        var fields = params.changes.wire.objectValue ?? JSONObject()
        if let priority = params.changes.priority {
            guard priority <= caller.maxPriority else {
                throw RPCFailure(
                    .permissionDenied, "changes.priority: the caller may set at most \(caller.maxPriority)",
                    data: ErrorData(reason: "permission_denied", path: "changes.priority"))
            }
            fields["priority"] = nil
        }
        let known = ["max_retries", "retry_for", "retry_non_idempotent", "max_recv_rate", "max_send_rate"]
        if let other = fields.members.first(where: { !known.contains($0.key) }) {
            throw Self.unsupported(
                "changes.\(other.key)", "in a fleet only priority and \(known.joined(separator: ", ")) can change")
        }
        if let priority = params.changes.priority { try await require(.priority(priority), params.id, caller) }
        if !fields.members.isEmpty {
            try await require(.limits(JSONValue.object(fields).text), params.id, caller)
        }
        return TaskUpdate.Result(task: record(try await task(params.id, for: caller), .listing))
    }

    private func require(_ wish: FleetWish, _ id: TaskID, _ caller: FleetCaller) async throws {
        let result = try await apply(wish, to: [id], caller)
        guard result.changed.isEmpty, let unchanged = result.unchanged.first else { return }
        throw RPCFailure(
            .invalidState, "task \(id) is \(unchanged.state): it has ended",
            data: ErrorData(reason: "invalid_state", taskID: id, state: unchanged.state.value))
    }

    func move(_ params: TaskMove.Params, _ context: CallContext) async throws -> TaskMove.Result {
        let caller = FleetCaller(context.caller)
        return switch params.to {
        case .top: .ids(try await apply(.reorder(.top), to: params.ids, caller))
        case .bottom: .ids(try await apply(.reorder(.bottom), to: params.ids, caller))
        case .before, .after:
            throw Self.unsupported(
                "to", "tasks of a fleet move to the top or the bottom; fleet.move changes the nodes that may run them")
        }
    }
}

extension FleetWishOutcome {
    fileprivate var hasEffect: Bool { verdict == .apply || verdict == .deliver }
}
