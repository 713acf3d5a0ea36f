public import XferModel

/// `task.cancelled`, terminal.
public struct TaskCancelledEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskCancelled)

    public var terminal = true
    public var state = OpenEnum(TaskState.cancelled)

    public init() {}

    public static let summary = "A task was cancelled; its partial bytes are deleted."
    public static let wireFields: WireFields<Self> = [
        .required("terminal", \.terminal, "True."),
        .required("state", \.state, "The state it ended in."),
    ]
}
