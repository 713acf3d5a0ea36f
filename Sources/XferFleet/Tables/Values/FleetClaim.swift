import XferModel

/// A task that the node has claimed.
public struct FleetClaim: Hashable, Sendable {
    public let claimKey: FleetClaimKey
    let owner: String
    let priority: Priority
    let group: String?
    let host: String
    let place: FleetPlace
    let batch: FleetBatchID?
    let label: String?
    let isRepeatable: Bool
    /// 1 for the first claim of the task since it was added or retried.
    let attempt: Int
    /// The specification as JSON text, unchanged since the add.
    let spec: String
    /// Limits that were wished since: JSON text, nil for none.
    let limits: String?
}

/// A node's lease as the database has it.
struct FleetLease: Hashable, Sendable {
    let claimKey: FleetClaimKey
    let place: FleetPlace
    let isRepeatable: Bool
    /// True if `begin` was called for the claim.
    let hasBegun: Bool
    /// True if a wish to cancel waits for the node.
    let isCancelling: Bool
    /// True if the node has a permit to publish its file on shared storage.
    let isPublishing: Bool
}

/// The lane at which a node's next claim begins its search, so that lanes take turns. Not durable.
public struct FleetClaimCursor: Hashable, Sendable {
    /// The last lane that was taken from.
    var lane: Int64

    /// - Parameter lane: where to begin. Nodes that begin at different lanes wait less for each other.
    public init(after lane: Int64 = 0) { self.lane = lane }
}
