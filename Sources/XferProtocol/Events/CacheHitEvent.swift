import XferModel

/// `cache.hit`.
public struct CacheHitEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.cacheHit)
    public var age: Int64?
    public var fresh = false

    public init() {}

    public init(age: Int64?, fresh: Bool) {
        self.age = age
        self.fresh = fresh
    }

    public static let summary =
        "A response that is kept is used. With cache_policy revalidate it is told before the server is asked: task.result "
        + "of a data task gives it at once."
    public static let wireFields: WireFields<Self> = [
        .nullable("age", \.age, "Seconds since the server made or confirmed it; null when the clock was set back."),
        .required("fresh", \.fresh, "Whether it may be used without asking (RFC 9111 section 4.2)."),
    ]
}
