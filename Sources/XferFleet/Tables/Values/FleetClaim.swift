public import XferModel

/// A task that the node has claimed.
public struct FleetClaim: Hashable, Sendable {
    public let claimKey: FleetClaimKey
    public let owner: String
    public let priority: Priority
    public let group: String?
    public let host: String
    public let place: FleetPlace
    public let batch: FleetBatchID?
    public let label: String?
    public let isRepeatable: Bool
    /// 1 for the first claim of the task since it was added or retried.
    public let attempt: Int
    /// The specification as JSON text, unchanged since the add.
    public let spec: String
    /// Limits that were wished since: JSON text, nil for none.
    public let limits: String?
}

/// A node's lease as the database has it.
public struct FleetLease: Hashable, Sendable {
    public let claimKey: FleetClaimKey
    public let place: FleetPlace
    public let isRepeatable: Bool
    /// True if `begin` was called for the claim.
    public let hasBegun: Bool
    /// True if a wish to cancel waits for the node.
    public let isCancelling: Bool
    /// True if the node has a permit to publish its file on shared storage.
    public let isPublishing: Bool
}

/// The lane at which a node's next claim begins its search, so that lanes take turns. Not durable.
public struct FleetClaimCursor: Hashable, Sendable {
    /// The last lane that was taken from.
    var lane: Int64

    /// - Parameter lane: where to begin. Nodes that begin at different lanes wait less for each other.
    public init(after lane: Int64 = 0) { self.lane = lane }
}
