public import XferModel

/// `task.staged`.
public struct TaskStagedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskStaged)

    public var state = OpenEnum(TaskState.staged)
    public var size: Int64 = 0

    public init() {}
    public init(size: Int64) { self.size = size }

    public static let summary =
        "A download is whole, verified and processed, and waits for task.commit or task.cancel. It is not terminal: one of "
        + "task.completed, task.cancelled and task.superseded follows."
    public static let wireFields: WireFields<Self> = [
        .required("state", \.state, "The state it is in."),
        .required("size", \.size, "The file's length in bytes."),
    ]
}
