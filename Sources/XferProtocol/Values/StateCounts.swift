public import XferModel

/// The number of tasks in each state.
public struct StateCounts: WireRecord, Hashable {
    public var queued: Int64 = 0
    public var waiting: Int64 = 0
    public var running: Int64 = 0
    public var paused: Int64 = 0
    public var staged: Int64 = 0
    public var completed: Int64 = 0
    public var failed: Int64 = 0
    public var cancelled: Int64 = 0

    public init() {}

    public init(_ counts: [TaskState: Int64]) {
        for (state, count) in counts { self[state] = count }
    }

    public subscript(state: TaskState) -> Int64 {
        get { self[keyPath: Self.path(to: state)] }
        set { self[keyPath: Self.path(to: state)] = newValue }
    }

    private static func path(to state: TaskState) -> WritableKeyPath<StateCounts, Int64> {
        switch state {
        case .queued: \.queued
        case .waiting: \.waiting
        case .running: \.running
        case .paused: \.paused
        case .staged: \.staged
        case .completed: \.completed
        case .failed: \.failed
        case .cancelled: \.cancelled
        }
    }

    /// The number of tasks that have not ended.
    public var unfinished: Int64 { [queued, waiting, running, paused, staged].saturatedSum }

    public static let summary = "Number of tasks in each state."
    public static let wireFields: WireFields<Self> = [
        .required("queued", \.queued, "Ready to start when the scheduler picks them."),
        .required("waiting", \.waiting, "Unable to start now."),
        .required("running", \.running, "Being transferred, verified or published."),
        .required("paused", \.paused, "Paused by the user."),
        .required("staged", \.staged, "Complete, and waiting for a commit."),
        .required("completed", \.completed, "Done."),
        .required("failed", \.failed, "Failed permanently."),
        .required("cancelled", \.cancelled, "Cancelled."),
    ]
}
