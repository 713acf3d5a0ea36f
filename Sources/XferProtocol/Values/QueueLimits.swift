public import XferModel

/// The limits of the queue that are in force.
public struct QueueLimits: WireRecord, Hashable {
    public var maxActive = 6
    public var maxActivePerHost = 4
    /// The limits that are not set.
    public var automatic: [String]?
    /// The limits that were set over RPC.
    public var overridden: [String]?
    /// The limits that the timetable sets now.
    public var timetabled: [String]?
    /// The time at which the timetable sets other limits.
    public var timetableUntil: Timestamp?
    public var order = OpenEnum(QueueOrder.fifo)
    public var maxReceiveRate: Int64 = 0
    public var maxSendRate: Int64 = 0

    public init() {}

    public init(maxActive: Int, maxActivePerHost: Int, order: QueueOrder, rates: BandwidthLimits) {
        self.maxActive = maxActive
        self.maxActivePerHost = maxActivePerHost
        self.order = OpenEnum(order)
        maxReceiveRate = rates.receive
        maxSendRate = rates.send
    }

    public static let summary = "The limits of the queue that are in force."
    public static let wireFields: WireFields<Self> = [
        .required(
            "max_active", \.maxActive,
            "Highest number of transfers at once; if xferd determines it, that of small transfers."),
        .required(
            "max_active_per_host", \.maxActivePerHost,
            "Highest number of transfers at once from one host; if xferd determines it, that of HTTP/1.1 connections."
        ),
        .required("order", \.order, "Order of a host's tasks."),
        .required(
            "max_recv_rate", \.maxReceiveRate,
            "Bytes per second that all transfers may receive together; 0 is unlimited."),
        .required(
            "max_send_rate", \.maxSendRate, "Bytes per second that all transfers may send together; 0 is unlimited."),
        .optional(
            "automatic", \.automatic,
            "The unset ones of max_active and max_active_per_host; xferd determines them."),
        .optional(
            "overridden", \.overridden,
            "The limits that queue.set_limits has set; they apply until it sets them to null."),
        .optional("timetabled", \.timetabled, "The limits that bandwidth.timetable sets now."),
        .optional(
            "timetable_until", \.timetableUntil, "Time of the next change by bandwidth.timetable, if any."),
    ]
}
