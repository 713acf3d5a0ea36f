public import XferModel

/// A task that is to be added.
public struct FleetNewTask: Hashable, Sendable {
    /// A user's name, the same on all nodes.
    var owner: String
    /// The client's key, unique in the fleet together with the owner; nil for none.
    var clientKey: String?
    /// A digest of the request: the same key with another fingerprint is a conflict.
    var fingerprint: String
    var priority: Priority
    var order: QueueOrder
    /// A group of the owner's; nil for none.
    var group: String?
    /// The host of the first URL, in the form of the limits.
    var host: String
    var place: FleetPlace
    /// The earliest start. The database's clock decides when it has passed.
    var notBefore: Timestamp?
    /// True if its request may be made twice.
    var isRepeatable: Bool
    var startsPaused: Bool
    var batch: FleetBatchID?
    var label: String?
    /// JSON text for the node: parameters of `task.add`.
    var spec: String
    /// JSON text of an object without secrets: the content of the add's event.
    var summary: String

    public init(
        owner: String, clientKey: String? = nil, fingerprint: String, priority: Priority = .normal,
        order: QueueOrder = .fifo, group: String? = nil, host: String, place: FleetPlace = .any,
        notBefore: Timestamp? = nil, isRepeatable: Bool = true, startsPaused: Bool = false, batch: FleetBatchID? = nil,
        label: String? = nil, spec: String, summary: String = "{}"
    ) {
        self.owner = owner
        self.clientKey = clientKey
        self.fingerprint = fingerprint
        self.priority = priority
        self.order = order
        self.group = group
        self.host = host
        self.place = place
        self.notBefore = notBefore
        self.isRepeatable = isRepeatable
        self.startsPaused = startsPaused
        self.batch = batch
        self.label = label
        self.spec = spec
        self.summary = summary
    }
}

/// The result of adding a task.
public enum FleetAddOutcome: Hashable, Sendable {
    case added(FleetTaskID)
    /// The same request was added before under this `client_key`.
    case existing(FleetTaskID)
    /// The `client_key` belongs to a task with another request.
    case conflict(FleetTaskID)

    var task: FleetTaskID {
        switch self {
        case .added(let id), .existing(let id), .conflict(let id): id
        }
    }
}
