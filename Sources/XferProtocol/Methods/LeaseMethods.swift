import StrictJSON

/// The methods of `lease.*`, in the order of the document.
enum LeaseMethods {
    static let all: [any RPCMethod.Type] = [LeaseRenew.self]
}

/// `lease.renew`: sets the end of a lease, until which its tasks may run.
public enum LeaseRenew: RPCMethod {
    public static let name = "lease.renew"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let isBrief = true
    public static let summary =
        "Sets the time until which tasks with this lease may run. Then they stop, keep their bytes, publish nothing and "
        + "wait; after a restart, the daemon has no lease until the next call."
    public static let errors: [ErrorCode] = [.limitExceeded, .storageUnavailable]
    public static let examples = [
        MethodExample("for half a minute", params: ["name": "fleet", "until": 123_456.5], result: ["now": 123_426.5])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        /// Seconds of CLOCK_BOOTTIME (clock_gettime(2)) of the daemon's machine.
        public var until = 0.0

        public init() {}

        public init(name: String, until: Double) {
            self.name = name
            self.until = until
        }

        public static let summary = "A lease and its end."
        public static let wireFields: WireFields<Self> = [
            .required(
                "name", \.name,
                "Name with which tasks refer to it.",
                .length(1...TaskLimits.nameLength), .visible, example: "fleet"),
            .required(
                "until", \.until,
                "Seconds of CLOCK_BOOTTIME (clock_gettime(2)) of the daemon's machine; a time in the past ends the lease.",
                .number(0...1e9)),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var now = 0.0

        public init() {}
        public init(now: Double) { self.now = now }

        public static let summary = "The daemon's clock."
        public static let wireFields: WireFields<Self> = [
            .required("now", \.now, "Seconds of CLOCK_BOOTTIME of the daemon's machine.")
        ]
    }
}
