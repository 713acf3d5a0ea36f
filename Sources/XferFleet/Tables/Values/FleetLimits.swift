public import XferModel

/// A group's limit over the whole fleet.
public struct FleetGroupRow: Hashable, Sendable {
    public let owner: String
    public let name: String
    /// The highest number of active tasks, or nil without a limit.
    public let maxActive: Int?
    public let isPaused: Bool
    public let queued: Int64
    public let leased: Int64
}

/// A host's limit over the whole fleet.
public struct FleetHostRow: Hashable, Sendable {
    public let name: String
    /// The highest number of active tasks, or nil without a limit.
    public let maxActive: Int?
    /// The time before which no task of the host is claimed.
    public let cooldownUntil: Timestamp?
    public let queued: Int64
    public let leased: Int64
}

/// An owner's limit over the whole fleet.
public struct FleetOwnerRow: Hashable, Sendable {
    public let name: String
    /// The highest number of active tasks, or nil without a limit.
    public let maxActive: Int?
    public let queued: Int64
    public let leased: Int64
}

/// Rates of the whole fleet, and the share of each live node.
public struct FleetRates: Hashable, Sendable {
    /// Bytes per second for all nodes together; 0 is unlimited.
    public var receive: Int64
    public var send: Int64
    /// The number of nodes that are neither down nor draining, at least 1.
    public var liveNodes: Int

    public init(receive: Int64 = 0, send: Int64 = 0, liveNodes: Int = 1) {
        self.receive = receive
        self.send = send
        self.liveNodes = liveNodes
    }

    /// True if there is a rate at all.
    public var isLimited: Bool { receive > 0 || send > 0 }

    /// The rate that one node may use: an equal share, at least 1; 0 is unlimited.
    public var receiveShare: Int64 { Self.share(receive, liveNodes) }
    public var sendShare: Int64 { Self.share(send, liveNodes) }

    private static func share(_ rate: Int64, _ nodes: Int) -> Int64 {
        rate <= 0 ? 0 : max(1, rate / Int64(clamping: max(nodes, 1)))
    }
}

/// Figures of the queue.
public struct FleetQueueFigures: Hashable, Sendable {
    public let counts: FleetCounts
    /// The number of lanes with queued tasks.
    public let openLanes: Int64
    /// Seconds since the oldest queued task was queued, by the database's clock; nil for an empty queue.
    public let oldestQueued: Double?
    /// The number of queued tasks whose place is served by no node that is neither down nor draining.
    public let withoutNode: Int64
    /// The newest event.
    public let newestEvent: Int64
}

/// A lane, for figures.
public struct FleetLaneRow: Hashable, Sendable {
    public let priority: Priority
    public let owner: String
    public let group: String?
    public let host: String
    public let place: String
    public let queued: Int64
    /// Seconds; nil if the lane is empty.
    public let oldestQueued: Double?
}
