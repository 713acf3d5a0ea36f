import XferModel

/// `task.response`.
public struct TaskResponseEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskResponse)
    public var status: Int = 0
    public var total: Int64?
    public var etag: String?
    public var resumed: Bool = false

    public init() {}

    public init(status: Int, total: Int64?, etag: String?, resumed: Bool) {
        self.status = status
        self.total = total
        self.etag = etag
        self.resumed = resumed
    }

    public static let summary = "The server answered."
    public static let wireFields: WireFields<Self> = [
        .required("status", \.status, "The answer's status."),
        .nullable("total", \.total, "Complete length in bytes; null while unknown."),
        .optional("etag", \.etag, "The source's entity tag."),
        .required("resumed", \.resumed, "Whether kept bytes are continued."),
    ]
}
