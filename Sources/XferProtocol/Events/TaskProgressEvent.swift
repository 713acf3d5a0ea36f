public import XferModel

/// `task.progress`: not durable, coalesced, and always one last time before the terminal event.
public struct TaskProgressEvent: WireEvent, Hashable {
    public static let eventName = EventName.progress

    public var phase = OpenEnum(TaskPhase.transferring)
    public var received: Int64 = 0
    public var sent: Int64 = 0
    public var total: Int64?
    public var rate: Int64 = 0
    public var eta: Int64?

    public init() {}

    public init(_ snapshot: ProgressSnapshot) {
        phase = OpenEnum(snapshot.phase)
        received = snapshot.received
        sent = snapshot.sent
        total = snapshot.total
        rate = snapshot.rate
        eta = snapshot.eta
    }

    /// The counters as a task's `progress` has them.
    public var progress: ProgressRecord {
        ProgressRecord(received: received, sent: sent, total: total, rate: rate, eta: eta)
    }

    public static let summary = "How far a running task is; not durable, and coalesced."
    public static let wireFields: WireFields<Self> = [
        .required("phase", \.phase, "What the task is doing."),
        .required("received", \.received, "Bytes held so far, those kept from earlier tries included."),
        .required("sent", \.sent, "Bytes sent."),
        .nullable("total", \.total, "Complete length in bytes; null while unknown."),
        .required("rate", \.rate, "Bytes per second over the last seconds."),
        .nullable("eta", \.eta, "Seconds until the end at that rate; null while unknown."),
    ]
}
