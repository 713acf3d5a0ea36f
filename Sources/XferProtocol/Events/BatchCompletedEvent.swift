public import XferModel

/// `batch.completed`.
public struct BatchCompletedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.batchCompleted)
    public var batch = BatchID(0)
    public var total: Int64 = 0
    public var finished: Int64 = 0
    public var skipped: Int64 = 0

    public init() {}

    public init(batch: BatchID, total: Int64, finished: Int64, skipped: Int64) {
        self.batch = batch
        self.total = total
        self.finished = finished
        self.skipped = skipped
    }

    public static let summary =
        "The last member of a batch has ended. Told once per batch, whatever is retried or removed later."
    public static let wireFields: WireFields<Self> = [
        .required("batch", \.batch, "The batch."), .required("total", \.total, "Members it was added with."),
        .required("finished", \.finished, "Members that have ended: all of them."),
        .required("skipped", \.skipped, "How many of those failed."),
    ]
}
