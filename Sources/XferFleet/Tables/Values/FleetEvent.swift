public import XferModel

/// An event of the fleet. Its number has no gap, and the order of numbers is the order of commits.
public struct FleetEvent: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case added, leased, released, paused, resumed, ended, retried, removed, changed
        case nodeJoined = "node_joined"
        case nodeDown = "node_down"
        case nodeDraining = "node_draining"
        case nodeUndrained = "node_undrained"
        case nodeForgotten = "node_forgotten"
        case limitChanged = "limit_changed"
        case fleetCreated = "fleet_created"
    }

    public let seq: Int64
    public let at: Timestamp
    public let kind: Kind
    public let task: FleetTaskID?
    /// The task's owner, who may see the event; nil for events of the fleet itself.
    public let owner: String?
    public let node: String?
    /// JSON text of an object.
    public let detail: String
}

/// A condition that selects events.
public struct FleetEventFilter: Hashable, Sendable {
    /// The owner whose events are returned; nil for all.
    public var owner: String?
    /// The kinds of events; nil for all kinds.
    public var kinds: Set<FleetEvent.Kind>?
    /// The tasks of events; nil for all tasks.
    public var tasks: Set<FleetTaskID>?

    public init() {}
}

/// Events in their order.
public struct FleetEventPage: Hashable, Sendable {
    public let events: [FleetEvent]
    /// The number after which to continue reading; it includes events that the filter excluded.
    public let next: Int64
    /// The newest event there is.
    public let newest: Int64
    /// The oldest event that is still stored. If it is more than 1 after the requested one, events are missing.
    public let oldest: Int64

    /// The highest number of events on a page.
    public static let limit = 1000
}
