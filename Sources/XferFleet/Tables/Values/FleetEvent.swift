import XferModel

/// An event of the fleet. Its number has no gap, and the order of numbers is the order of commits.
struct FleetEvent: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case added, leased, released, paused, resumed, ended, retried, removed, changed
        case nodeJoined = "node_joined"
        case nodeDown = "node_down"
        case nodeDraining = "node_draining"
        case nodeUndrained = "node_undrained"
        case nodeForgotten = "node_forgotten"
        case limitChanged = "limit_changed"
        case fleetCreated = "fleet_created"
    }

    let seq: Int64
    let at: Timestamp
    let kind: Kind
    let task: FleetTaskID?
    /// The task's owner, who may see the event; nil for events of the fleet itself.
    let owner: String?
    let node: String?
    /// JSON text of an object.
    let detail: String
}

/// A condition that selects events.
struct FleetEventFilter: Hashable, Sendable {
    /// The owner whose events are returned; nil for all.
    var owner: String?
    /// The kinds of events; nil for all kinds.
    var kinds: Set<FleetEvent.Kind>?
    /// The tasks of events; nil for all tasks.
    var tasks: Set<FleetTaskID>?
}

/// Events in their order.
struct FleetEventPage: Hashable, Sendable {
    let events: [FleetEvent]
    /// The number after which to continue reading; it includes events that the filter excluded.
    let next: Int64
    /// The newest event there is.
    let newest: Int64
    /// The oldest event that is still stored. If it is more than 1 after the requested one, events are missing.
    let oldest: Int64

    /// The highest number of events on a page.
    static let limit = 1000
}
