import XferModel

/// `session.invalidated`.
public struct SessionInvalidatedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.sessionInvalidated)
    public var policy: String = ""
    public var version: Int64 = 0

    public init() {}

    public init(policy: String, version: Int64) {
        self.policy = policy
        self.version = version
    }

    public static let summary =
        "A trust policy was edited or removed: connections judged by that version are given up, and what ran over them "
        + "stops at its next safe point and is judged anew."
    public static let wireFields: WireFields<Self> = [
        .required("policy", \.policy, "The policy's name."),
        .required("version", \.version, "The version that is no longer in force."),
    ]
}
