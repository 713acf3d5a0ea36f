import StrictJSON

/// `queue.stats`: counts, rates and limits.
public enum QueueStats: RPCMethod {
    public typealias Params = NoParams

    public static let name = "queue.stats"
    public static let summary = "Counts of tasks by state, present rates, and the queue's limits."

    public static let examples = [
        MethodExample(
            "a busy queue", params: [:],
            result: [
                "counts": [
                    "queued": 120, "waiting": 2, "running": 6, "paused": 1, "staged": 0, "completed": 871, "failed": 3,
                    "cancelled": 0,
                ],
                "rates": ["recv": 10_485_760, "send": 0], "paused": false,
                "limits": [
                    "max_active": 6, "max_active_per_host": 4, "order": "fifo", "max_recv_rate": 0, "max_send_rate": 0,
                ],
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var counts = StateCounts()
        public var rates = Rates()
        public var paused = false
        public var limits = QueueLimits()

        public init() {}

        public static let summary = "The queue as it is now."
        public static let wireFields: WireFields<Self> = [
            .required("counts", \.counts, "Tasks by state."),
            .required("rates", \.rates, "Bytes per second over all running tasks."),
            .required("paused", \.paused, "Whether the queue holds back starts."),
            .required("limits", \.limits, "The limits that hold now."),
        ]
    }

    public struct Rates: WireRecord, Hashable {
        public var received: Int64 = 0
        public var sent: Int64 = 0

        public init() {}

        public init(received: Int64, sent: Int64) {
            self.received = received
            self.sent = sent
        }

        public static let summary = "Bytes per second over all running tasks."
        public static let wireFields: WireFields<Self> = [
            .required("recv", \.received, "Received."), .required("send", \.sent, "Sent."),
        ]
    }
}
