import XferModel

/// The tasks of a set that events have concerned: for callers that wait until tasks have ended.
///
/// It keeps each task once, so no number of events overflows it, and a slow reader costs no memory. For one reader.
final class ChangedTasks: Sendable {
    private struct State {
        var followed: Set<TaskID>
        var changed: Set<TaskID> = []
        var hasEnded = false
    }

    let id: Int
    private let types: Set<EventType>?
    private let state: AwaitedState<State>

    /// - Parameter types: the events that count; nil is all.
    init(id: Int, _ tasks: Set<TaskID>, types: Set<EventType>?) {
        self.id = id
        self.types = types
        state = AwaitedState(State(followed: tasks)) { !$0.changed.isEmpty || $0.hasEnded }
    }

    /// The tasks that are followed.
    var followed: Set<TaskID> { state.withLock(\.followed) }

    func follow(_ tasks: some Sequence<TaskID>) { state.withLock { $0.followed.formUnion(tasks) } }

    func unfollow(_ tasks: some Sequence<TaskID>) {
        state.withLock { state in
            state.followed.subtract(tasks)
            state.changed.formIntersection(state.followed)
        }
    }

    /// Returns the followed tasks that events have concerned since the last call, at least one; nil after `end`, or if
    /// the caller is cancelled.
    func next() async -> Set<TaskID>? {
        while true {
            let (changed, hasEnded) = state.withLock { state in
                defer { state.changed = [] }
                return (state.changed, state.hasEnded)
            }
            if hasEnded || Task.isCancelled { return nil }
            if !changed.isEmpty { return changed }
            await state.wait()
        }
    }

    func deliver(_ events: [Event]) {
        state.change { state in
            for event in events {
                guard let task = event.taskID, state.followed.contains(task), types?.contains(event.type) ?? true
                else { continue }
                state.changed.insert(task)
            }
        }
    }

    func end() { state.change { $0.hasEnded = true } }
}
