import XferModel

/// `task.added`.
public struct TaskAddedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskAdded)
    public var url: String = ""
    public var label: String?
    public var group: String?

    public init() {}

    public init(url: String, label: String?, group: String?) {
        self.url = url
        self.label = label
        self.group = group
    }

    public static let summary = "A task was added."
    public static let wireFields: WireFields<Self> = [
        .required("url", \.url, "The URL; secrets in it are ***."),
        .optional("label", \.label, "Its label."),
        .optional("group", \.group, "Its group."),
    ]
}
