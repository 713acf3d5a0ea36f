import StrictJSON
public import XferModel

/// The methods of `webhook.*`, in the order of the document.
enum WebhookMethods {
    static let all: [any RPCMethod.Type] = [WebhookList.self, WebhookTest.self]
}

/// `webhook.list`: the operator's receivers of events.
public enum WebhookList: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "webhook.list"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "The receivers of events, by name, with the state of their deliveries. They are defined in the configuration file."
    public static let examples = [
        MethodExample(
            "a receiver that does not answer", params: [:],
            result: [
                "webhooks": [
                    [
                        "name": "deploy", "url": "https://ci.example.org/xfer?token=***",
                        "events": ["task.completed", "task.failed"], "filter": ["groups": ["nightly"]],
                        "signed": true, "guests": false, "pending": 12, "failed": 0,
                        "last_delivered_at": "2026-01-02T03:04:05.000Z", "last_failed_at": "2026-01-02T03:30:00.000Z",
                        "last_failure": "ci.example.org answered 503 (Service Unavailable)",
                        "paused_until": "2026-01-02T03:31:12.000Z",
                    ]
                ], "next_cursor": nil,
            ])
    ]

    public struct Result: PageRecord, Hashable {
        public var webhooks: [WebhookRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [WebhookRecord]> { \.webhooks }

        public static let summary = "All webhooks."
        public static let wireFields: WireFields<Self> = [
            .required("webhooks", \.webhooks, "The webhooks, by name."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// A receiver of events, and the state of its deliveries.
public struct WebhookRecord: WireRecord, Hashable {
    public var name = ""
    public var url = ""
    public var events: [OpenEnum<EventType>] = []
    public var filter: WebhookFilterRecord?
    public var signed = false
    public var guests = false
    public var batch: Int?
    public var pending: Int64 = 0
    public var failed: Int64 = 0
    public var lastDeliveredAt: Timestamp?
    public var lastFailedAt: Timestamp?
    public var lastFailure: String?
    public var pausedUntil: Timestamp?

    public init() {}

    /// Creates the record of a definition; the deliveries have to be filled in.
    public init(_ definition: WebhookDefinition) {
        name = definition.name
        url = Redaction.url(definition.url.string)
        events = EventType.allCases.filter(definition.events.contains).map { OpenEnum($0) }
        let filter = WebhookFilterRecord(definition.filter)
        self.filter = filter.isEmpty ? nil : filter
        signed = definition.secret != nil
        guests = definition.isForGuests
        batch = definition.isBatched ? definition.batch : nil
    }

    public static let summary = "A receiver of events, and the state of its deliveries."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "Its name."),
        .required("url", \.url, "URL to which events are sent; secrets in it are ***."),
        .required("events", \.events, "The types that are sent; if empty, only the ends of tasks that refer to it."),
        .optional("filter", \.filter, "Conditions for events of these types; owners are uids."),
        .required("signed", \.signed, "True if deliveries are signed."),
        .required("guests", \.guests, "True if tasks of users who are not operators may refer to it."),
        .optional("batch", \.batch, "Highest number of events in a request; absent is one, without an array."),
        .required("pending", \.pending, "Deliveries that the receiver has not accepted yet."),
        .required("failed", \.failed, "Deliveries that failed permanently in the last 7 days."),
        .optional("last_delivered_at", \.lastDeliveredAt, "Time at which the receiver last accepted a delivery."),
        .optional("last_failed_at", \.lastFailedAt, "Time of the last failed attempt."),
        .optional("last_failure", \.lastFailure, "Reason of the failure, without secrets."),
        .optional(
            "paused_until", \.pausedUntil, "While the receiver accepts nothing: time of the next attempt."),
    ]
}

/// `webhook.test`: sends an event of the type `webhook.test` at once.
public enum WebhookTest: RPCMethod {
    public static let name = "webhook.test"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Sends an event of the type webhook.test to a receiver at once, signed like a delivery, and answers with "
        + "the result. It is sent once and is not stored."
    public static let examples = [
        MethodExample(
            "accepted", params: ["name": "deploy"], result: ["accepted": true, "status": 204, "duration": 0.12]),
        MethodExample(
            "refused", params: ["name": "deploy"],
            result: [
                "accepted": false, "status": 403, "duration": 0.08,
                "failure": "ci.example.org answered 403 (Forbidden)",
            ]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""

        public init() {}
        public init(name: String) { self.name = name }

        public static let summary = "The webhook."
        public static let wireFields: WireFields<Self> = [
            .required("name", \.name, "Its name.", .length(1...64), example: "deploy")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var accepted = false
        public var status: Int?
        public var duration: Double = 0
        public var failure: String?

        public init() {}

        public init(accepted: Bool, status: Int?, duration: Double, failure: String?) {
            self.accepted = accepted
            self.status = status
            self.duration = duration
            self.failure = failure
        }

        public static let summary = "Result of the test."
        public static let wireFields: WireFields<Self> = [
            .required("accepted", \.accepted, "True if the receiver accepted it: a status from 200 to 299."),
            .optional("status", \.status, "Status of the receiver's answer."),
            .required("duration", \.duration, "Seconds it took."),
            .optional("failure", \.failure, "Reason why it was not accepted, without secrets."),
        ]
    }
}
