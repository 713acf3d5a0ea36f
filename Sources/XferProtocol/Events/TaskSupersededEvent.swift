public import XferModel

/// `task.superseded`, terminal.
public struct TaskSupersededEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskSuperseded)

    public var terminal = true
    public var state = OpenEnum(TaskState.cancelled)
    public var by = TaskID(0)

    public init() {}
    public init(by: TaskID) { self.by = by }

    public static let summary =
        "Another task took its slot: it is cancelled, and its partial bytes are deleted. No task.cancelled follows."
    public static let wireFields: WireFields<Self> = [
        .required("terminal", \.terminal, "True."),
        .required("state", \.state, "The state it ended in."),
        .required("by", \.by, "The task that is in the slot now."),
    ]
}
