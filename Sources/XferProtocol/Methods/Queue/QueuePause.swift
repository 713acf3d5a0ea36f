import StrictJSON

/// `queue.pause`: holds back starts.
public enum QueuePause: RPCMethod {
    public static let name = "queue.pause"
    public static let summary =
        "Holds back starts until queue.resume, over restarts too; what runs goes on unless running is true."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("with what runs", params: ["running": true], result: ["paused": true])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var running = false

        public init() {}
        public init(running: Bool) { self.running = running }

        public static let summary = "How far to pause."
        public static let wireFields: WireFields<Self> = [
            .defaulted("running", \.running, "Whether to pause running tasks as well.")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var paused = false

        public init() {}
        public init(paused: Bool) { self.paused = paused }

        public static let summary = "Whether the queue holds back starts."
        public static let wireFields: WireFields<Self> = [
            .required("paused", \.paused, "Whether the queue holds back starts.")
        ]
    }
}
