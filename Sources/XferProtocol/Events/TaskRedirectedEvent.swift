import XferModel

/// `task.redirected`.
public struct TaskRedirectedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskRedirected)
    public var status: Int = 0
    public var from: String = ""
    public var to: String = ""

    public init() {}

    public init(status: Int, from: String, to: String) {
        self.status = status
        self.from = from
        self.to = to
    }

    public static let summary = "A redirect was followed."
    public static let wireFields: WireFields<Self> = [
        .required("status", \.status, "The redirect's status."),
        .required("from", \.from, "Where from; secrets in it are ***."),
        .required("to", \.to, "Where to; secrets in it are ***."),
    ]
}
