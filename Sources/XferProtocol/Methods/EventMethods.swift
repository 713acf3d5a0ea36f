public import StrictJSON
public import XferModel

/// The methods of `events.*`, in the order of the document.
enum EventMethods {
    static let all: [any RPCMethod.Type] = [EventsSubscribe.self, EventsUnsubscribe.self, EventsSince.self]
}

/// `events.subscribe`: a stream of events on this connection.
public enum EventsSubscribe: RPCMethod {
    public static let name = "events.subscribe"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary =
        "Starts a stream of event notifications on this connection: stored ones after since, then live ones, in order. "
        + "Only over the Unix socket or a WebSocket; over HTTP use GET /events."
    public static let errors: [ErrorCode] = [.limitExceeded]

    public static let examples = [
        MethodExample(
            "one task from now on", params: ["task_ids": [17]],
            result: ["subscription": 1, "last_seq": 4096]),
        MethodExample(
            "all completions since 4000", params: ["types": ["task.completed"], "since": 4000],
            result: ["subscription": 2, "last_seq": 4096]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var types: OneOrMany<EventName>?
        public var taskIDs: OneOrMany<TaskID>?
        public var since: Int64?

        public init() {}

        public init(types: [EventName]? = nil, taskIDs: [TaskID]? = nil, since: Int64? = nil) {
            self.types = types.map { OneOrMany($0) }
            self.taskIDs = taskIDs.map { OneOrMany($0) }
            self.since = since
        }

        public static let summary = "The events to return."
        public static let wireFields: WireFields<Self> = [
            .optional("types", \.types, "Types of events; default all, task.progress included.", .count(1...1000)),
            .optional(
                "task_ids", \.taskIDs, "Only events about these tasks; default all.", .count(1...TaskLimits.batchSize)),
            .optional(
                "since", \.since, "Replay the events after this sequence number first; default none.",
                .sequenceNumber),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var subscription: Int64 = 0
        public var lastSeq: Int64 = 0
        public var gap: Bool?
        public var firstSeq: Int64?

        public init() {}

        /// Creates the result. `firstSeq` is set if events after `since` are no longer stored. The replay then begins
        /// at `firstSeq`.
        public init(subscription: Int64, lastSeq: Int64, firstSeq: Int64? = nil) {
            self.subscription = subscription
            self.lastSeq = lastSeq
            self.firstSeq = firstSeq
            gap = firstSeq == nil ? nil : true
        }

        public static let summary = "The subscription."
        public static let wireFields: WireFields<Self> = [
            .required("subscription", \.subscription, "Identifies the subscription on this connection."),
            .required("last_seq", \.lastSeq, "The highest sequence number at the time of the call."),
            .optional("gap", \.gap, "True if some events after since are no longer stored."),
            .optional("first_seq", \.firstSeq, "With gap: the oldest stored event; the replay begins there."),
        ]
    }
}

/// `events.unsubscribe`: ends a stream.
public enum EventsUnsubscribe: RPCMethod {
    public typealias Result = Done

    public static let name = "events.unsubscribe"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary = "Ends a subscription. No event follows the answer."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [MethodExample("end it", params: ["subscription": 1], result: [:])]

    public struct Params: WireInput, WireParams, Hashable {
        public var subscription: Int64 = 0

        public init() {}
        public init(subscription: Int64) { self.subscription = subscription }

        public static let summary = "The subscription."
        public static let wireFields: WireFields<Self> = [
            .required("subscription", \.subscription, "Id in the answer of events.subscribe.", .sequenceNumber)
        ]
    }
}

/// `events.since`: durable events, page by page.
public enum EventsSince: RPCMethod {
    public static let name = "events.since"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    /// Values that `since` and `seq` may have.
    public static let sequenceNumbers: ClosedRange<Int64> = 0...WireID.range.upperBound
    public static let summary = "Durable events after a sequence number, oldest first."

    public static let examples = [
        MethodExample(
            "the history of a task", params: ["seq": 4000, "task_ids": [17], "types": ["task.cancelled"]],
            result: [
                "events": [
                    [
                        "seq": 4021, "time": "2026-01-02T03:04:05.678Z", "type": "task.cancelled", "task_id": 17,
                        "owner": 1000, "terminal": true, "state": "cancelled",
                    ]
                ],
                "last_seq": 4096,
            ]),
        MethodExample("too old", params: ["seq": 3], result: ["gap": true, "first_seq": 2048]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var seq: Int64 = 0
        public var types: OneOrMany<EventName>?
        public var taskIDs: OneOrMany<TaskID>?
        public var limit = 1000

        public init() {}
        public init(seq: Int64) { self.seq = seq }

        public static let summary = "The events to return."
        public static let wireFields: WireFields<Self> = [
            .required(
                "seq", \.seq, "Events after this sequence number; 0 is all stored events.", .sequenceNumber),
            .optional("types", \.types, "Types of events; default all.", .count(1...1000)),
            .optional(
                "task_ids", \.taskIDs, "Only events about these tasks; default all.", .count(1...TaskLimits.batchSize)),
            .defaulted(
                "limit", \.limit,
                "Highest number of events in one answer. A page also ends at 1 MiB, or after 10,000 numbers: it may have fewer events, even none, "
                    + "although last_seq is above seq.", .range(1...10_000)),
        ]
    }

    public enum Result: WireValue, Hashable {
        case events(Page)
        case gap(Gap)
    }

    /// Events in order.
    public struct Page: WireRecord, Hashable {
        public var events: [EventMessage] = []
        public var lastSeq: Int64 = 0

        public init() {}

        public init(events: [EventMessage], lastSeq: Int64) {
            self.events = events
            self.lastSeq = lastSeq
        }

        public static let summary = "Events in order."
        public static let wireFields: WireFields<Self> = [
            .required("events", \.events, "The events."),
            .required(
                "last_seq", \.lastSeq,
                "Last sequence number that this answer covers, including events that the filter excludes: the seq of the next call. "
                    + "Equal to the requested seq if there are no more events; lower if the newest event is older than seq."
            ),
        ]
    }

    /// The answer if events after `seq` are no longer stored.
    public struct Gap: WireRecord, Hashable {
        public var gap = true
        public var firstSeq: Int64 = 0

        public init() {}
        public init(firstSeq: Int64) { self.firstSeq = firstSeq }

        public static let summary = "Events after that sequence number are no longer stored."
        public static let wireFields: WireFields<Self> = [
            .required("gap", \.gap, "True."),
            .required("first_seq", \.firstSeq, "The oldest stored event."),
        ]
    }
}

extension EventsSince.Result {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self =
            value["gap"] == nil
            ? .events(try EventsSince.Page(wire: value, mode: mode))
            : .gap(try EventsSince.Gap(wire: value, mode: mode))
    }

    public var wire: JSONValue {
        switch self {
        case .events(let page): page.wire
        case .gap(let gap): gap.wire
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let forms = [EventsSince.Page.schema(in: &schemas), EventsSince.Gap.schema(in: &schemas)]
        return schemas.reference(to: "EventsSinceResult") { _ in ["oneOf": .array(forms)] }
    }
}
