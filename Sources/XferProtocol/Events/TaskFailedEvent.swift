public import XferModel

/// `task.failed`, terminal.
public struct TaskFailedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskFailed)

    public var terminal = true
    public var state = OpenEnum(TaskState.failed)
    public var error = FailureRecord()

    public init() {}

    public init(error: TransferError) {
        self.error = FailureRecord(error)
    }

    public static let summary = "A task has failed; task.retry tries it again with the bytes it kept."
    public static let wireFields: WireFields<Self> = [
        .required("terminal", \.terminal, "True."),
        .required("state", \.state, "The state it ended in."),
        .required("error", \.error, "Why."),
    ]
}
