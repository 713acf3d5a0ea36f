import XferModel

/// A group's limit over the whole fleet.
struct FleetGroupRow: Hashable, Sendable {
    let owner: String
    let name: String
    /// The highest number of active tasks, or nil without a limit.
    let maxActive: Int?
    let isPaused: Bool
    let queued: Int64
    let leased: Int64
}

/// A host's limit over the whole fleet.
struct FleetHostRow: Hashable, Sendable {
    let name: String
    /// The highest number of active tasks, or nil without a limit.
    let maxActive: Int?
    /// The time before which no task of the host is claimed.
    let cooldownUntil: Timestamp?
    let queued: Int64
    let leased: Int64
}

/// An owner's limit over the whole fleet.
struct FleetOwnerRow: Hashable, Sendable {
    let name: String
    /// The highest number of active tasks, or nil without a limit.
    let maxActive: Int?
    let queued: Int64
    let leased: Int64
}

/// Rates of the whole fleet, and the share of each live node.
struct FleetRates: Hashable, Sendable {
    /// Bytes per second for all nodes together; 0 is unlimited.
    var receive: Int64 = 0
    var send: Int64 = 0
    /// The number of nodes that are neither down nor draining, at least 1.
    var liveNodes = 1

    /// True if there is a rate at all.
    var isLimited: Bool { receive > 0 || send > 0 }

    /// The rate that one node may use: an equal share, at least 1; 0 is unlimited.
    var receiveShare: Int64 { Self.share(receive, liveNodes) }
    var sendShare: Int64 { Self.share(send, liveNodes) }

    private static func share(_ rate: Int64, _ nodes: Int) -> Int64 {
        rate <= 0 ? 0 : max(1, rate / Int64(clamping: max(nodes, 1)))
    }
}

/// Figures of the queue.
struct FleetQueueFigures: Hashable, Sendable {
    let counts: FleetCounts
    /// The number of lanes with queued tasks.
    let openLanes: Int64
    /// Seconds since the oldest queued task was queued, by the database's clock; nil for an empty queue.
    let oldestQueued: Double?
    /// The number of queued tasks whose place is served by no node that is neither down nor draining.
    let withoutNode: Int64
    /// The newest event.
    let newestEvent: Int64
}

/// A lane, for figures.
struct FleetLaneRow: Hashable, Sendable {
    let priority: Priority
    let owner: String
    let group: String?
    let host: String
    let place: String
    let queued: Int64
    /// Seconds; nil if the lane is empty.
    let oldestQueued: Double?
}
