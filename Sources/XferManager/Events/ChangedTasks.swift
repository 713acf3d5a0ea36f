import NIOConcurrencyHelpers
import XferModel

/// The tasks of a set that events have concerned: for callers that wait until tasks have ended.
///
/// It keeps each task once, so no number of events overflows it, and a slow reader costs no memory. For one reader.
final class ChangedTasks: Sendable {
    private struct State {
        var followed: Set<TaskID>
        var changed: Set<TaskID> = []
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?

        var hasNews: Bool { !changed.isEmpty || hasEnded }

        mutating func removeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    let id: Int
    private let types: Set<EventType>?
    private let state: NIOLockedValueBox<State>

    /// - Parameter types: the events that count; nil is all.
    init(id: Int, _ tasks: Set<TaskID>, types: Set<EventType>?) {
        self.id = id
        self.types = types
        state = NIOLockedValueBox(State(followed: tasks))
    }

    /// The tasks that are followed.
    var followed: Set<TaskID> { state.withLockedValue(\.followed) }

    func follow(_ tasks: some Sequence<TaskID>) { state.withLockedValue { $0.followed.formUnion(tasks) } }

    func unfollow(_ tasks: some Sequence<TaskID>) {
        state.withLockedValue { state in
            state.followed.subtract(tasks)
            state.changed.formIntersection(state.followed)
        }
    }

    /// Returns the followed tasks that events have concerned since the last call, at least one; nil after `end`, or if
    /// the caller is cancelled.
    func next() async -> Set<TaskID>? {
        while true {
            let (changed, hasEnded) = state.withLockedValue { state in
                defer { state.changed = [] }
                return (state.changed, state.hasEnded)
            }
            if hasEnded || Task.isCancelled { return nil }
            if !changed.isEmpty { return changed }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let mustWait = state.withLockedValue { state in
                        guard !state.hasNews, !Task.isCancelled else { return false }
                        state.waiter = continuation
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
            } onCancel: {
                state.withLockedValue { $0.removeWaiter() }?.resume()
            }
        }
    }

    func deliver(_ events: [Event]) {
        wake { state in
            for event in events {
                guard let task = event.taskID, state.followed.contains(task), types?.contains(event.type) ?? true
                else { continue }
                state.changed.insert(task)
            }
        }
    }

    func end() { wake { $0.hasEnded = true } }

    /// Changes the state and wakes the reader, outside the lock, if there is something to read.
    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLockedValue { state in
            change(&state)
            return state.hasNews ? state.removeWaiter() : nil
        }
        waiter?.resume()
    }
}
