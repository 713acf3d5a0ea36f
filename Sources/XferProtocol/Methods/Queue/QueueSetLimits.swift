import StrictJSON
public import XferModel

/// `queue.set_limits`: changes limits at run time.
public enum QueueSetLimits: RPCMethod {
    public static let name = "queue.set_limits"
    public static let summary =
        "Changes limits for now and over restarts; they beat the configuration until they are set to null."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "two at once; per host as configured", params: ["max_active": 2, "max_active_per_host": nil],
            result: [
                "limits": [
                    "max_active": 2, "max_active_per_host": 4, "order": "fifo", "max_recv_rate": 0, "max_send_rate": 0,
                ]
            ]),
        MethodExample(
            "the newest first", params: ["order": "lifo"],
            result: [
                "limits": [
                    "max_active": 6, "max_active_per_host": 4, "order": "lifo", "max_recv_rate": 0, "max_send_rate": 0,
                ]
            ]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var maxActive = Patch<Int>.unchanged
        public var maxActivePerHost = Patch<Int>.unchanged
        public var order = Patch<QueueOrder>.unchanged
        public var maxReceiveRate = Patch<Int64>.unchanged
        public var maxSendRate = Patch<Int64>.unchanged

        public init() {}

        public static let summary = "The limits to change; null goes back to the configuration."
        public static let wireFields: WireFields<Self> = [
            .patch("max_active", \.maxActive, "Most transfers at once.", .range(1...10_000)),
            .patch(
                "max_active_per_host", \.maxActivePerHost, "Most transfers at once from one host.", .range(1...10_000)),
            .patch("order", \.order, "Which of a host's tasks starts first: the oldest (fifo) or the newest (lifo)."),
            .patch(
                "max_recv_rate", \.maxReceiveRate,
                "Bytes per second that all transfers may receive together; 0 is unlimited. Beats the timetable, too.",
                .range(0...BandwidthLimits.highest)),
            .patch(
                "max_send_rate", \.maxSendRate,
                "Bytes per second that all transfers may send together; 0 is unlimited. Beats the timetable, too.",
                .range(0...BandwidthLimits.highest)),
        ]

        public func validate() throws(WireError) {
            guard
                maxActive.isChange || maxActivePerHost.isChange || order.isChange || maxReceiveRate.isChange
                    || maxSendRate.isChange
            else {
                throw WireError(.missing, expected: "at least one limit to change")
            }
        }
    }

    public struct Result: WireRecord, Hashable {
        public var limits = QueueLimits()

        public init() {}
        public init(limits: QueueLimits) { self.limits = limits }

        public static let summary = "The limits that hold now."
        public static let wireFields: WireFields<Self> = [.required("limits", \.limits, "The limits that hold now.")]
    }
}
