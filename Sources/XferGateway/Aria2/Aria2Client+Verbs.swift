import JSONRPC
import StrictJSON
import XferAria2
import XferModel
import XferProtocol

// What changes downloads.
extension Aria2Client {
    func addUri(_ params: Aria2Parameters) async throws -> JSONValue {
        let uris = try params.strings(0)
        let options = try params.options(1)
        let position = try params.optionalInteger(2)
        if let position, position < 0 { throw Aria2Fault("The integer parameter at 2 has invalid value.") }
        let task = try options.task(for: uris)
        facade.report(ignored: options.ignored)
        let added = try await add(task, gid: try options.chosenGID())
        let gid = Aria2Status(added, seed: seed).gid
        if let position {
            // The download is added and durable by now, so a place that cannot be had is no error.
            _ = try? await move(added.id, position, .set)
        }
        return .string(gid.description)
    }

    private func add(_ task: NewTask, gid: Aria2GID?) async throws -> TaskRecord {
        do {
            guard case .one(let one) = try await attempt(TaskAdd.self, .one(task)) else {
                throw RPCError.internalError("task.add answered for several tasks")
            }
            if one.existing == true, let gid { throw RPCError.internalError("GID#\(gid) is not unique") }
            return one.task
        } catch let error as RPCError {
            // The key that keeps a chosen GID is in use.
            if let gid, error.knownCode == .conflict { throw Aria2Fault("GID#\(gid) is not unique") }
            throw Aria2Fault(error)
        }
    }

    // MARK: Verbs

    func perform(_ verb: Aria2Verb, _ params: Aria2Parameters) async throws -> JSONValue {
        let status = try await download(params, [.gid])
        let refusal = verb.refusal(status.gid)
        guard let state = status.task.state?.value, verb.effect(on: state) == .call else { throw refusal }
        let selection = TaskSelection(ids: [status.task.id])
        let outcome: SelectionResult =
            switch verb {
            case .pause: try await call(TaskPause.self, selection)
            case .unpause: try await call(TaskResume.self, selection)
            case .remove: try await call(TaskCancel.self, selection)
            case .removeResult: throw refusal
            }
        guard case .ids(let listed) = outcome, listed.changed.contains(status.task.id) else { throw refusal }
        return .string(status.gid.description)
    }

    func pauseAll() async throws -> JSONValue {
        _ = try await call(TaskPause.self, TaskSelection(filter: filter([.queued, .waiting, .running])))
        return Self.done
    }

    func unpauseAll() async throws -> JSONValue {
        _ = try await call(TaskResume.self, TaskSelection(filter: filter([.paused])))
        return Self.done
    }

    func removeResult(_ params: Aria2Parameters) async throws -> JSONValue {
        let status = try await download(params, [.gid])
        guard let state = status.task.state?.value, Aria2Verb.removeResult.effect(on: state) == .hide else {
            throw Aria2Verb.removeResult.refusal(status.gid)
        }
        try await checkOwnership()
        facade.hidden.hide([status.task], from: connection.peer.userID)
        return Self.done
    }

    func purgeResults() async throws -> JSONValue {
        try await checkOwnership()
        facade.hidden.hide(try await stopped(.keys), from: connection.peer.userID)
        return Self.done
    }

    /// Checks the caller's scope. Hiding results calls no method that changes something, so no other code checks it.
    private func checkOwnership() async throws {
        guard let id = connection.remote?.tokenID, let token = facade.tokens.token(id),
            token.scope == .own || token.scope == .operate
        else { throw Aria2Fault("hiding results needs a token with the scope own or operate") }
    }

    // MARK: The queue's order

    func changePosition(_ params: Aria2Parameters) async throws -> JSONValue {
        let (position, how) = (try params.integer(1), try params.position(2))
        let status = try await download(params, [.gid])
        guard let index = try await move(status.task.id, position, how) else {
            throw Aria2Fault("GID#\(status.gid) not found in the waiting queue.")
        }
        return .integer(Int64(clamping: index))
    }

    /// Moves a waiting task; returns its new place, nil if it does not wait.
    ///
    /// Paused tasks take their new place when they are queued again.
    private func move(_ id: TaskID, _ position: Int64, _ how: Aria2Position) async throws -> Int? {
        let limit = Int(clamping: Aria2Slice.reach)
        let before = try await waiting(.keys, limit: limit)
        guard let index = before.firstIndex(where: { $0.id == id }) else { return nil }
        let wanted = how.index(position, from: index, count: before.count)
        guard wanted != index else { return index }
        let params: TaskMove.Params =
            if wanted == 0 {
                TaskMove.Params(ids: [id], to: .top)
            } else if wanted == before.count - 1 {
                TaskMove.Params(ids: [id], to: .bottom)
            } else {
                TaskMove.Params(ids: [id], to: wanted > index ? .after : .before, target: before[wanted].id)
            }
        _ = try await call(TaskMove.self, params)
        guard before[index].state?.value == .queued else { return wanted }
        return try await waiting(.keys, limit: limit).firstIndex { $0.id == id } ?? wanted
    }
}
