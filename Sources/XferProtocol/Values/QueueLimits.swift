public import XferModel

/// The limits that hold for the queue now.
public struct QueueLimits: WireRecord, Hashable {
    public var maxActive = 6
    public var maxActivePerHost = 4
    public var order = OpenEnum(QueueOrder.fifo)

    public init() {}

    public init(maxActive: Int, maxActivePerHost: Int, order: QueueOrder) {
        self.maxActive = maxActive
        self.maxActivePerHost = maxActivePerHost
        self.order = OpenEnum(order)
    }

    public static let summary = "The limits that hold for the queue now."
    public static let wireFields: WireFields<Self> = [
        .required("max_active", \.maxActive, "Most transfers at once."),
        .required("max_active_per_host", \.maxActivePerHost, "Most transfers at once from one host."),
        .required("order", \.order, "Which of a host's tasks start first."),
    ]
}
