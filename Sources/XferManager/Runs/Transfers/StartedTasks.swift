import NIOConcurrencyHelpers
import XferModel

/// The tasks that `RunScheduler` has started on one transfer.
///
/// Invariant: a task is expected from its start until it waits for the body or is removed, so that the transfer does
/// not stop in between. A lock protects the state, because `RunScheduler` registers a task in the same turn in which
/// it starts it.
final class StartedTasks: Sendable {
    private struct State {
        /// Tasks that have not requested the body yet, with the number of segments each wants.
        var expected: [TaskID: SegmentCount] = [:]
        var startCount = 0
        /// Tasks whose failure by the last attempt is not committed yet.
        var failed: Set<TaskID> = []
    }

    private let isNew: Bool
    private let state = NIOLockedValueBox(State())

    /// - Parameter isNew: true if no task has used the transfer before.
    init(isNew: Bool) { self.isNew = isNew }

    /// True if the transfer was created for one task and no other was started on it, so that no other task can use its
    /// bytes.
    var isExclusive: Bool { isNew && state.withLockedValue { $0.startCount == 1 } }

    /// True if a task is about to request the body.
    var isAnyExpected: Bool { state.withLockedValue { !$0.expected.isEmpty } }

    /// The numbers of segments that the expected tasks want.
    var wantedSegments: [SegmentCount] { state.withLockedValue { Array($0.expected.values) } }

    /// Registers a task that is about to request the body.
    func expect(_ id: TaskID, segments: SegmentCount) {
        state.withLockedValue { state in
            state.expected[id] = segments
            state.startCount += 1
        }
    }

    /// Ends the expectation: the task waits for the body, or has ended without requesting it.
    func remove(_ id: TaskID) { state.withLockedValue { $0.expected[id] = nil } }

    /// Records that the last attempt has failed for these tasks and the expected ones.
    func beginFailure(of members: some Sequence<TaskID>) {
        state.withLockedValue { $0.failed = Set($0.expected.keys).union(members) }
    }

    /// Records that the failure is committed for the task, or that the task has left.
    func onFailureCommitted(of id: TaskID) { state.withLockedValue { _ = $0.failed.remove(id) } }

    /// True if a task's failure is not committed yet.
    var isFailureUncommitted: Bool { state.withLockedValue { !$0.failed.isEmpty } }
}
