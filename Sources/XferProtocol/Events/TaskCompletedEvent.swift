public import XferModel

/// `task.completed`, terminal.
public struct TaskCompletedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskCompleted)

    public var terminal = true
    public var state = OpenEnum(TaskState.completed)
    public var path: String?
    public var size: Int64 = 0
    public var skipped: Bool?
    public var notModified: Bool?

    public init() {}

    public init(path: String?, size: Int64, skipped: Bool, notModified: Bool) {
        self.path = path
        self.size = size
        self.skipped = skipped ? true : nil
        self.notModified = notModified ? true : nil
    }

    public static let summary = "A task is done: its file is whole, verified, durable and under its final name."
    public static let wireFields: WireFields<Self> = [
        .required("terminal", \.terminal, "True."),
        .required("state", \.state, "The state it ended in."),
        .optional("path", \.path, "Absolute path of the file."),
        .required("size", \.size, "Its length in bytes."),
        .optional("skipped", \.skipped, "True when on_conflict skip found the name taken."),
        .optional("not_modified", \.notModified, "True when on_conflict update found the file current."),
    ]
}
