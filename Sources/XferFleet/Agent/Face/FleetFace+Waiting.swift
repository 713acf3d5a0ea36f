import XferCore
import XferDaemon
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// `task.wait` of the fleet.
extension FleetFace {
    func wait(_ params: TaskWait.Params, _ context: CallContext) async throws -> [UInt8] {
        let caller = FleetCaller(context.caller)
        let end = params.timeout.map { Clocks.monotonic().advanced(by: .seconds($0)) }
        let until = (params.until?.values ?? []).distinctSet()
        func isOver(_ task: FleetTask) -> Bool { task.state.isEnd || until.contains(task.state.local) }
        let ids =
            if let named = try Self.ids(of: params.filter) {
                try await openTasks(among: Set(named), caller, isOver).sorted()
            } else if let filter = params.filter {
                try await self.ids(filter, caller)
            } else {
                params.ids ?? []
            }
        let wanted = ids.distinctSet()
        guard waitedTasks.reserve(wanted.count, for: caller.name) else { throw ManagerError.tooManyWaitedTasks }
        defer { waitedTasks.release(wanted.count, of: caller.name) }
        return try await changes.with { signal in
            var open = wanted
            while true {
                // One query a turn, for the tasks that have not ended.
                open = try await openTasks(among: open, caller, isOver)
                let isTimedOut = end.map { Clocks.monotonic() >= $0 } ?? false
                func isReached() -> Bool { open.isEmpty || params.any == true && open.count < wanted.count }
                if isReached() || isTimedOut || Task.isCancelled {
                    let all = try await visibleTasks(wanted, for: caller, withSpecs: false)
                    // One may have been retried since.
                    open = Set(all.filter { !isOver($0.value) }.keys)
                    if isReached() || isTimedOut || Task.isCancelled {
                        return try await answer(ids, all, open: open, timedOut: !isReached(), params.fields)
                    }
                }
                await signal.wait(atMost: configuration.interval)
            }
        }
    }

    /// The unfinished tasks that match.
    private func ids(_ filter: TaskFilter, _ caller: FleetCaller) async throws -> [TaskID] {
        let filter = try self.filter(filter, caller)
        var ids: [TaskID] = []
        try await readPages(of: filter) { tasks throws(RPCFailure) in
            ids += tasks.filter { !$0.state.isEnd }.map { TaskID($0.id.rawValue) }
            guard ids.count <= TaskLimits.batchSize else {
                let limit = TaskLimits.batchSize
                throw RPCFailure(
                    .limitExceeded, "filter: more than \(limit) unfinished tasks match; use events.subscribe",
                    data: ErrorData(reason: "limit_exceeded", path: "filter", limit: Int64(clamping: limit)))
            }
        }
        return ids
    }

    /// Returns the tasks among these that have not ended. Removed tasks count as ended.
    private func openTasks(
        among ids: Set<TaskID>, _ caller: FleetCaller, _ isOver: (FleetTask) -> Bool
    ) async throws -> Set<TaskID> {
        Set(try await visibleTasks(ids, for: caller, withSpecs: false).filter { !isOver($0.value) }.keys)
    }

    private func answer(
        _ ids: [TaskID], _ tasks: [TaskID: FleetTask], open: Set<TaskID>, timedOut: Bool, _ columns: TaskColumns?
    ) async throws -> [UInt8] {
        let wanted = columns?.names.isEmpty == true ? [] : ids.compactMap { tasks[$0] }
        let text = try await records(of: wanted, columns)
        return text.answer(
            TaskWait.Result(
                omitted: wanted.dropFirst(text.count).map { TaskID($0.id.rawValue) }, open: open.sorted(),
                missing: ids.filter { tasks[$0] == nil }, isOver: !timedOut))
    }
}
