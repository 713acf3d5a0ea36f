public import XferModel

/// `policy.expiring`.
public struct PolicyExpiringEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.policyExpiring)
    public var policy: String = ""
    public var version: Int64 = 0
    public var expiresAt = Timestamp(microseconds: 0)
    public var days: Int = 0

    public init() {}

    public init(policy: String, version: Int64, expiresAt: Timestamp, days: Int) {
        self.policy = policy
        self.version = version
        self.expiresAt = expiresAt
        self.days = days
    }

    public static let summary =
        "A trust policy's pins will no longer be enforced after its expires_at; told 30, 7 and 1 days before, and when "
        + "it has happened."
    public static let wireFields: WireFields<Self> = [
        .required("policy", \.policy, "The policy's name."),
        .required("version", \.version, "Its version."),
        .required("expires_at", \.expiresAt, "When it turns into the ordinary check."),
        .required("days", \.days, "30, 7 or 1 days before; 0 when it has expired."),
    ]
}
