import StrictJSON
public import XferModel

/// `daemon.shutdown`: goes down, after answering.
public enum DaemonShutdown: RPCMethod {
    public static let name = "daemon.shutdown"
    public static let summary =
        "Stops the daemon, after answering: suspend checkpoints and stops at once, drain finishes what runs and "
        + "refuses adds, cancel cancels every unfinished task. Operators only."
    public static let examples = [
        MethodExample("after what runs", params: ["mode": "drain"], result: ["mode": "drain"])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var mode = ShutdownMode.suspend

        public init() {}
        public init(mode: ShutdownMode) { self.mode = mode }

        public static let summary = "How to stop."
        public static let wireFields: WireFields<Self> = [
            .defaulted("mode", \.mode, "What becomes of unfinished tasks.")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var mode = OpenEnum(ShutdownMode.suspend)

        public init() {}
        public init(mode: ShutdownMode) { self.mode = OpenEnum(mode) }

        public static let summary = "How it is going to stop."
        public static let wireFields: WireFields<Self> = [.required("mode", \.mode, "How it is going to stop.")]
    }
}
