public import XferModel

/// The types of events as clients see them: the durable ones and those that only live on a connection.
public enum EventName: WireEnum {
    case durable(EventType)
    /// `task.progress`: a running task's counters, coalesced.
    case progress
    /// `events.overflow`: the client did not read; it goes on with `events.since`.
    case overflow

    public static let allCases: [EventName] = EventType.allCases.map(EventName.durable) + [.progress, .overflow]

    public var wireName: String {
        switch self {
        case .durable(let type): type.rawValue
        case .progress: "task.progress"
        case .overflow: "events.overflow"
        }
    }

    public init?(wireName: String) {
        switch wireName {
        case "task.progress": self = .progress
        case "events.overflow": self = .overflow
        default:
            guard let type = EventType(rawValue: wireName) else { return nil }
            self = .durable(type)
        }
    }
}

extension EventName {
    /// `task.source_changed` is described by the schema `TaskSourceChangedEvent`.
    var schemaName: String {
        wireName.split { $0 == "." || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() + "Event"
    }

    /// Content of this type, for the schema.
    var example: any EventContent {
        switch self {
        case .durable(let type): EventPayload.example(of: type)
        case .progress:
            ProgressSnapshot(
                taskID: TaskID(1), owner: Owner(uid: 0), phase: .transferring, received: 0, total: nil, rate: 0)
        case .overflow: EventsOverflow(lastSeq: 0)
        }
    }
}
