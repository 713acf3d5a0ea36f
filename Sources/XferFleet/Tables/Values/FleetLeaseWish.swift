import XferCore

/// A wish that waits for the node that has the task.
struct FleetLeaseWish: Hashable, Sendable {
    /// The number of the wish, higher for each new one: apply them in this order, and report them in
    /// `FleetReport.wishes`.
    let id: Int64
    let claimKey: FleetClaimKey
    let wish: FleetWish
}

/// The tasks to which a request applies.
enum FleetSelection: Hashable, Sendable {
    /// Only these tasks, at most 1,000.
    case tasks([FleetTaskID])
    /// The tasks that match, at most 1,000 from the lowest id on.
    case matching(FleetTaskFilter, after: FleetTaskID?)
}

/// The result of a request for one task.
struct FleetWishOutcome: Hashable, Sendable {
    let task: FleetTaskID
    let verdict: WishRules.Verdict
    /// The task's state before the wish; nil if there is no such task.
    let state: FleetTaskState?
}
