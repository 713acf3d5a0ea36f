import StrictJSON
public import XferModel

/// `daemon.status`: whether it is well.
public enum DaemonStatus: RPCMethod {
    public typealias Params = NoParams

    public static let name = "daemon.status"
    public static let summary = "Which daemon this is and whether it is well."

    public static let examples = [
        MethodExample(
            "a healthy daemon", params: [:],
            result: [
                "version": "1.0.0", "pid": 4711, "uptime": 86_400, "state_dir": "/home/ada/.local/state/xferd",
                "socket": "/run/user/1000/xferd.sock", "store_id": "5f0c6a52c8e94d0b", "degraded": false,
                "shutting_down": false,
                "counts": [
                    "queued": 0, "waiting": 0, "running": 1, "paused": 0, "staged": 0, "completed": 4, "failed": 0,
                    "cancelled": 0,
                ],
                "network": "unmetered", "activity": true,
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var version = ""
        public var pid: Int64 = 0
        public var uptime: Int64 = 0
        public var stateDirectory = ""
        public var socket = ""
        public var storeID = ""
        public var degraded = false
        public var degradedReason: String?
        public var shuttingDown = false
        public var counts = StateCounts()
        public var network = OpenEnum(NetworkState.unknown)
        public var activity = false

        public init() {}

        public static let summary = "Which daemon this is and whether it is well."
        public static let wireFields: WireFields<Self> = [
            .required("version", \.version, "The daemon's version."),
            .required("pid", \.pid, "Its process id."),
            .required("uptime", \.uptime, "Seconds since it started."),
            .required("state_dir", \.stateDirectory, "Absolute path of its state directory."),
            .required("socket", \.socket, "The socket it answers on."),
            .required("store_id", \.storeID, "Changes with a new database: ids and sequence numbers then start anew."),
            .required("degraded", \.degraded, "Whether the database cannot be written: nothing starts, reading works."),
            .optional("degraded_reason", \.degradedReason, "Why the database cannot be written."),
            .required("shutting_down", \.shuttingDown, "Whether it is about to stop and takes no new work."),
            .required("counts", \.counts, "Tasks by state."),
            .required("network", \.network, "What network.changed said last."),
            .required("activity", \.activity, "Whether transfers are going on, debounced."),
        ]
    }
}
