public import XferModel

/// The types of events as clients see them: the durable ones and those that only live on a connection.
public enum EventName: WireEnum {
    case durable(EventType)
    /// Events that are durable as well, but that only a fleet has.
    case fleet(FleetEventName)
    /// `task.progress`: a running task's counters, coalesced.
    case progress
    /// `events.overflow`: the client did not read; it continues with `events.since`.
    case overflow

    public static let allCases: [EventName] = ofDaemon + FleetEventName.allCases.map(EventName.fleet)
    /// The events of `xferd`.
    public static let ofDaemon: [EventName] = EventType.allCases.map(EventName.durable) + [.progress, .overflow]

    /// True if `events.since` has events of this type.
    public var isDurable: Bool { self != .progress && self != .overflow }

    public var wireName: String {
        switch self {
        case .durable(let type): type.rawValue
        case .fleet(let type): type.rawValue
        case .progress: "task.progress"
        case .overflow: "events.overflow"
        }
    }

    public init?(wireName: String) {
        switch wireName {
        case "task.progress": self = .progress
        case "events.overflow": self = .overflow
        default:
            if let type = EventType(rawValue: wireName) {
                self = .durable(type)
            } else if let type = FleetEventName(rawValue: wireName) {
                self = .fleet(type)
            } else {
                return nil
            }
        }
    }
}

extension EventName {
    /// The name of the schema: `TaskSourceChangedEvent` describes `task.source_changed`.
    var schemaName: String {
        wireName.split { $0 == "." || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() + "Event"
    }

    /// True if events of this type have a task and its owner.
    var isAboutTask: Bool {
        switch self {
        case .durable(let type): type.rawValue.hasPrefix("task.") || type == .cacheHit
        case .fleet(let type): type.isAboutTask
        case .progress, .overflow: false
        }
    }

    /// An example of the content of this type, for the schema.
    var example: any EventContent {
        switch self {
        case .durable(let type): EventPayload.example(of: type)
        case .fleet(let type): type
        case .progress:
            ProgressSnapshot(
                taskID: TaskID(1), owner: Owner(uid: 0), phase: .transferring, received: 0, total: nil, rate: 0)
        case .overflow: EventsOverflow(lastSeq: 0)
        }
    }
}
