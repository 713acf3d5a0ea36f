import StrictJSON
public import XferModel

/// The methods of `queue.*`, in the order of the document.
enum QueueMethods {
    static let all: [any RPCMethod.Type] = [
        QueueStats.self, QueuePause.self, QueueResume.self, QueueSetLimits.self, QueueHosts.self, QueueSetHost.self,
    ]
}

/// `queue.stats`: counts, rates and limits.
public enum QueueStats: RPCMethod {
    public typealias Params = NoParams

    public static let name = "queue.stats"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
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

        public static let summary = "Present state of the queue."
        public static let wireFields: WireFields<Self> = [
            .required("counts", \.counts, "Tasks by state."),
            .required("rates", \.rates, "Bytes per second over all running tasks."),
            .required("paused", \.paused, "True if the queue is paused."),
            .required("limits", \.limits, "The limits in force."),
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

/// `queue.pause`: pauses the queue.
public enum QueuePause: RPCMethod {
    public static let name = "queue.pause"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Pauses the queue until queue.resume, also across restarts; running transfers continue unless running is true."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("with its running tasks", params: ["running": true], result: ["paused": true])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var running = false

        public init() {}
        public init(running: Bool) { self.running = running }

        public static let summary = "Extent of the pause."
        public static let wireFields: WireFields<Self> = [
            .defaulted(
                "running", \.running,
                "True to return running tasks to the queue with their bytes; tasks that could not be continued keep "
                    + "running.")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var paused = false

        public init() {}
        public init(paused: Bool) { self.paused = paused }

        public static let summary = "True if the queue is paused."
        public static let wireFields: WireFields<Self> = [
            .required("paused", \.paused, "True if the queue is paused.")
        ]
    }
}

/// `queue.resume`: resumes the queue.
public enum QueueResume: RPCMethod {
    public typealias Result = QueuePause.Result

    public static let name = "queue.resume"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Resumes the queue. Tasks that are paused themselves stay paused; with now, waiting ones start at once."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("continue", params: [:], result: ["paused": false]),
        MethodExample("and end waits", params: ["now": true], result: ["paused": false]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var now = false

        public init() {}
        public init(now: Bool) { self.now = now }

        public static let summary = "Waits to end in addition to the pause."
        public static let wireFields: WireFields<Self> = [
            .defaulted(
                "now", \.now,
                "True to let waiting tasks start now and to end the cooldowns of hosts. Tasks that wait for their "
                    + "own conditions (schedule, dependency, lease) and suspects keep waiting.")
        ]
    }
}

/// `queue.set_limits`: changes limits at run time.
public enum QueueSetLimits: RPCMethod {
    public static let name = "queue.set_limits"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Changes limits at once and across restarts; they override the configuration until they are set to null."
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

        public static let summary = "The limits to change; null returns to the configuration."
        public static let wireFields: WireFields<Self> = [
            .patch("max_active", \.maxActive, "Highest number of transfers at once.", .range(GroupLimits.activeRange)),
            .patch(
                "max_active_per_host", \.maxActivePerHost, "Highest number of transfers at once from one host.",
                .range(GroupLimits.activeRange)),
            .patch("order", \.order, "Order of a host's tasks: oldest first (fifo) or newest first (lifo)."),
            .patch(
                "max_recv_rate", \.maxReceiveRate,
                "Bytes per second that all transfers may receive together; 0 is unlimited. Also overrides the timetable.",
                .range(0...BandwidthLimits.highest)),
            .patch(
                "max_send_rate", \.maxSendRate,
                "Bytes per second that all transfers may send together; 0 is unlimited. Also overrides the timetable.",
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

        public static let summary = "The limits in force."
        public static let wireFields: WireFields<Self> = [.required("limits", \.limits, "The limits in force.")]
    }
}
