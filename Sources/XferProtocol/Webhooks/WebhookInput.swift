import StrictJSON
public import XferModel

/// A webhook as the configuration file has it.
public struct WebhookInput: WireInput, Hashable {
    public var name = ""
    public var url = ""
    public var events: [EventType]?
    public var secret: SecretReference?
    public var filter: WebhookFilterRecord?
    public var guests = false
    public var template: String?
    public var contentType: String?
    public var batch: Int?

    public init() {}

    public static let summary = "A receiver of events."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "Its name."),
        .required(
            "url", \.url, "URL to which events are sent with POST; http or https.", .length(1...TaskLimits.urlLength),
            example: "https://ci.example.org/xfer"),
        .optional(
            "events", \.events,
            "The types that are sent; default those that end a task. An empty list sends only the ends of tasks that "
                + "refer to the webhook.", .count(0...EventType.allCases.count), example: ["task.completed"]),
        .optional(
            "secret", \.secret,
            "Place from which the key of the signature is read at every attempt; without it nothing is signed."),
        .optional("filter", \.filter, "Conditions for events of these types; default all."),
        .defaulted("guests", \.guests, "True if tasks of users who are not operators may refer to it."),
        .optional(
            "template", \.template,
            "The body in place of the event: text with fields in braces, such as {title} and {text}; for services that "
                + "do not accept xfer's events.", .length(1...4096), example: "{title}: {text}"),
        .optional(
            "content_type", \.contentType,
            "The media type of the template; default JSON if it begins as JSON does, else plain text.",
            .length(1...128), example: "text/plain"),
        .optional(
            "batch", \.batch,
            "Highest number of events in a request: beyond 1 the body is an array of events, sent in their order, one "
                + "request at a time. Default 1, without an array.", .range(WebhookDefinition.batchRange),
            example: 100),
    ]

    /// The place of the secret; nil without one.
    public var secretPlace: Secret? { secret?.secret }
}

/// Conditions that select the events of a webhook's types. An event has to satisfy every condition that is set.
public struct WebhookFilterRecord: WireInput, Hashable {
    public var groups: [String]?
    public var labels: [String]?
    public var owners: [String]?

    public init() {}

    public init(_ filter: WebhookFilter) {
        groups = filter.groups?.sorted()
        labels = filter.labels?.sorted()
        owners = filter.owners?.map(\.rawValue).sorted().map { String($0) }
    }

    public static let summary =
        "Conditions for a webhook's events: an event has to satisfy every condition that is set."
    public static let wireFields: WireFields<Self> = [
        .optional("groups", \.groups, "Only events about tasks of one of these groups.", .count(1...64)),
        .optional("labels", \.labels, "Only events about tasks with one of these labels.", .count(1...64)),
        .optional("owners", \.owners, "Only events about objects of one of these users.", .count(1...64)),
    ]

    /// True if there is no condition.
    public var isEmpty: Bool { groups == nil && labels == nil && owners == nil }
}
