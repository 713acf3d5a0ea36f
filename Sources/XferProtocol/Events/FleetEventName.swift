/// The types of durable events that only a fleet has. All other events about tasks have the names of `EventType` there,
/// too.
public enum FleetEventName: String, CaseIterable, Sendable {
    case taskReleased = "fleet.task_released"
    case taskChanged = "fleet.task_changed"
    case nodeJoined = "fleet.node_joined"
    case nodeDown = "fleet.node_down"
    case nodeDraining = "fleet.node_draining"
    case nodeUndrained = "fleet.node_undrained"
    case nodeForgotten = "fleet.node_forgotten"
    case limitChanged = "fleet.limit_changed"
    case created = "fleet.created"

    /// True if events of this type have a task.
    var isAboutTask: Bool { self == .taskReleased || self == .taskChanged }
}

extension FleetEventName: EventContent {
    func declare<Declaration: EventDeclaration>(in event: inout Declaration) {
        switch self {
        case .taskReleased:
            event.summary("In a fleet: a node gave a task back, or lost it; any node of its place may take it.")
        case .taskChanged:
            event.summary("In a fleet: a task's place, priority or limits were changed.")
            event.optional("wish", "", "The requested change.")
        case .nodeJoined: event.summary("In a fleet: a node has joined, or has come back.")
        case .nodeDown: event.summary("In a fleet: a node has been silent so long that others take over its tasks.")
        case .nodeDraining: event.summary("In a fleet: a node finishes its tasks and claims no more.")
        case .nodeUndrained: event.summary("In a fleet: a node takes tasks again.")
        case .nodeForgotten: event.summary("In a fleet: a node that is permanently lost was removed.")
        case .limitChanged:
            event.summary(
                "In a fleet: a limit of a host, a group or an owner changed, or a group was paused or resumed.")
        case .created: event.summary("In a fleet: its database was created. This is the first event.")
        }
    }
}
