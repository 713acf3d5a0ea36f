/// A receiver of events, which the operator defined.
public struct WebhookDefinition: Hashable, Sendable {
    public var name: String
    /// The URL to which events are sent with POST.
    public var url: HTTPURL
    /// The types that are sent. If it is empty, only the ends of tasks that refer to the webhook are sent.
    public var events: Set<EventType>
    public var filter: WebhookFilter
    /// The key of the signature, read at every attempt; nil sends no signature.
    public var secret: Secret?
    /// True if tasks of users who are not operators may refer to it.
    public var isForGuests: Bool
    /// The body of its requests with fields in braces; nil sends the event as JSON.
    public var template: String?
    /// The media type of that body; nil is derived from the template.
    public var contentType: String?
    /// The highest number of events in a request. Beyond 1 the body is an array, and requests are made one at a time,
    /// in the order of the events.
    public var batch = 1

    /// True if the body of its requests is an array of events.
    public var isBatched: Bool { batch > 1 }

    public init(
        name: String, url: HTTPURL, events: Set<EventType> = WebhookDefinition.ends,
        filter: WebhookFilter = WebhookFilter(), secret: Secret? = nil, isForGuests: Bool = false
    ) {
        self.name = name
        self.url = url
        self.events = events
        self.filter = filter
        self.secret = secret
        self.isForGuests = isForGuests
    }

    /// The bounds of `batch`.
    public static let batchRange: ClosedRange<Int64> = 1...500

    /// The types that are sent by default: those that end a task.
    public static let ends = Set(EventType.allCases.filter(\.isTerminal))
}

/// Conditions that select the events of a webhook's types. An event has to satisfy every condition; nil is no
/// condition.
///
/// An event that is not about a task satisfies no condition, except that an event about a user's batch has an owner.
public struct WebhookFilter: Hashable, Sendable {
    public var groups: Set<String>?
    public var labels: Set<String>?
    public var owners: Set<Owner>?

    public init(groups: Set<String>? = nil, labels: Set<String>? = nil, owners: Set<Owner>? = nil) {
        self.groups = groups
        self.labels = labels
        self.owners = owners
    }

    /// True if the filter has to know the task of an event.
    public var needsTask: Bool { groups != nil || labels != nil }

    /// True if the filter accepts an event.
    ///
    /// - Parameter task: the specification of the event's task; nil if there is none. Only needed if `needsTask`.
    public func admits(owner: Owner?, task: TaskSpecification?) -> Bool {
        func holds<Value>(_ accepted: Set<Value>?, _ value: Value?) -> Bool {
            guard let accepted else { return true }
            return value.map(accepted.contains) ?? false
        }
        return holds(owners, owner) && holds(groups, task?.group) && holds(labels, task?.label)
    }
}

/// The webhooks by the types of events that they receive. The store looks up the receivers of each event here.
public struct WebhookSubscriptions: Hashable, Sendable {
    private let followers: [EventType: [WebhookDefinition]]

    /// Creates the table. Returns nil if none of these webhooks receives any type, so that an event costs nothing.
    /// Nothing is sent about a delivery: none receives `webhookDiscarded`.
    public init?(_ definitions: [WebhookDefinition]) {
        var followers: [EventType: [WebhookDefinition]] = [:]
        for definition in definitions {
            for type in definition.events where type != .webhookDiscarded {
                followers[type, default: []].append(definition)
            }
        }
        guard !followers.isEmpty else { return nil }
        self.followers = followers
    }

    /// The webhooks that get events of this type if their filters admit them.
    public func followers(of type: EventType) -> [WebhookDefinition] { followers[type] ?? [] }
}

/// The bound of what may wait for webhooks of one user's events, so that no user fills the state's disk or displaces
/// the events of others.
public struct DeliveryLimits: Hashable, Sendable {
    /// The highest number of bytes of one user's deliveries that wait; the next one is discarded.
    public var bytesPerUser: Int64
    /// The users without a limit.
    public var unlimited: Set<Owner>

    public init(bytesPerUser: Int64 = .max, unlimited: Set<Owner> = []) {
        self.bytesPerUser = bytesPerUser
        self.unlimited = unlimited
    }

    /// The bytes for which a delivery counts beside its text: its row and the index of it.
    public static let overhead: Int64 = 256

    /// The limit of the owner of an event; nil for the service's events and for users without one.
    public func limit(of owner: Owner?) -> Int64? {
        guard let owner, !unlimited.contains(owner) else { return nil }
        return bytesPerUser
    }
}
