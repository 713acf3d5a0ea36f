public import XferModel

/// `task.waiting`.
public struct TaskWaitingEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskWaiting)

    public var wait = WaitRecord()
    public var error: FailureRecord?

    public init() {}

    public init(wait: Wait, error: TransferError?) {
        self.wait = WaitRecord(wait)
        self.error = error.map { FailureRecord($0) }
    }

    public static let summary = "A task cannot start or go on now; nothing is lost."
    public static let wireFields: WireFields<Self> = [
        .required("wait", \.wait, "What it waits for."),
        .optional("error", \.error, "The failure that led there."),
    ]
}
