public import XferCore

/// A wish that waits for the node that has the task.
public struct FleetLeaseWish: Hashable, Sendable {
    /// The number of the wish, higher for each new one: apply them in this order, and report them in
    /// `FleetReport.wishes`.
    public let id: Int64
    public let claimKey: FleetClaimKey
    public let wish: FleetWish
}

/// The tasks to which a request applies.
public enum FleetSelection: Hashable, Sendable {
    /// Only these tasks, at most 1,000.
    case tasks([FleetTaskID])
    /// The tasks that match, at most 1,000 from the lowest id on.
    case matching(FleetTaskFilter, after: FleetTaskID?)
}

/// The result of a request for one task.
public struct FleetWishOutcome: Hashable, Sendable {
    public let task: FleetTaskID
    public let verdict: WishRules.Verdict
    /// The task's state before the wish; nil if there is no such task.
    public let state: FleetTaskState?
}
