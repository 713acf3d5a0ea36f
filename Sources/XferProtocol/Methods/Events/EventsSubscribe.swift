import StrictJSON
public import XferModel

/// `events.subscribe`: a stream of events on this connection.
public enum EventsSubscribe: RPCMethod {
    public static let name = "events.subscribe"
    public static let summary =
        "Starts a stream of event notifications on this connection: those after since, then live ones, in order. "
        + "NDJSON connections only; over HTTP use GET /events."
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

        public static let summary = "Which events."
        public static let wireFields: WireFields<Self> = [
            .optional("types", \.types, "Types of events; default all, task.progress included.", .count(1...1000)),
            .optional(
                "task_ids", \.taskIDs, "Only events about these tasks; default all.", .count(1...TaskLimits.batchSize)),
            .optional(
                "since", \.since, "Replay what came after this sequence number first; default nothing.",
                .sequenceNumber),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var subscription: Int64 = 0
        public var lastSeq: Int64 = 0
        public var gap: Bool?
        public var firstSeq: Int64?

        public init() {}

        /// `firstSeq` is given when events after `since` are gone: the replay begins there.
        public init(subscription: Int64, lastSeq: Int64, firstSeq: Int64? = nil) {
            self.subscription = subscription
            self.lastSeq = lastSeq
            self.firstSeq = firstSeq
            gap = firstSeq == nil ? nil : true
        }

        public static let summary = "The subscription."
        public static let wireFields: WireFields<Self> = [
            .required("subscription", \.subscription, "Names the subscription on this connection."),
            .required("last_seq", \.lastSeq, "The last sequence number given out at the time of the call."),
            .optional("gap", \.gap, "True when events after since are no longer kept."),
            .optional("first_seq", \.firstSeq, "With gap: the oldest event that is kept; the replay begins there."),
        ]
    }
}
