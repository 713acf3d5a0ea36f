public import StrictJSON
public import XferModel

/// The methods of `daemon.*` and `rpc.discover`, in the order of the OpenRPC document.
enum DaemonMethods {
    static let all: [any RPCMethod.Type] = [
        DaemonStatus.self, DaemonConfig.self, DaemonBackup.self, DaemonShutdown.self, RPCDiscover.self,
    ]
}

/// `daemon.status`: the daemon's identity and health.
public enum DaemonStatus: RPCMethod {
    public typealias Params = NoParams

    public static let name = "daemon.status"
    public static let access = MethodAccess.users
    public static let scope = MethodScope.read
    public static let summary = "Identity and health of the daemon."

    public static let examples = [
        MethodExample(
            "a healthy daemon", params: [:],
            result: [
                "version": "1.0.0 (9f3c2d91ab47)", "pid": 4711, "uptime": 86_400,
                "state_dir": "/home/ada/.local/state/xferd", "socket": "/run/user/1000/xferd.sock",
                "store_id": "5f0c6a52c8e94d0b", "degraded": false, "shutting_down": false,
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
        public var node: String?
        public var degraded = false
        public var degradedReason: String?
        public var damagedRows: [String]?
        public var configurationProblem: String?
        public var configurationConflicts: [String]?
        public var keysWaitingForRestart: [String]?
        public var failingWebhooks: [String]?
        public var queuePaused: Bool?
        public var fileSystems: [FileSystemRecord]?
        public var shuttingDown = false
        public var counts = StateCounts()
        public var network = OpenEnum(NetworkState.unknown)
        public var activity = false

        public init() {}

        public static let summary = "Identity and health of the daemon."
        public static let wireFields: WireFields<Self> = [
            .required("version", \.version, "The daemon's version, as `xferd --version` prints it."),
            .required("pid", \.pid, "Its process id."),
            .required("uptime", \.uptime, "Seconds since it started."),
            .required("state_dir", \.stateDirectory, "Absolute path of its state directory."),
            .required("socket", \.socket, "The socket it answers on."),
            .required(
                "store_id", \.storeID,
                "Identity of the database. If it changes, ids and sequence numbers start from the beginning."),
            .optional(
                "node", \.node,
                "For xfer-fleet: the node that answers. Tasks and counts are those of its fleet."),
            .required(
                "degraded", \.degraded,
                "True if the database (nothing starts, reading works) or another file of the daemon cannot be written, "
                    + "or a trust policy in the database cannot be read, or conflicts with one of the configuration (nothing "
                    + "starts)."),
            .optional("degraded_reason", \.degradedReason, "The part that cannot be used, and the reason."),
            .optional(
                "damaged_rows", \.damagedRows,
                "Trust policies, profiles, tokens and tasks that cannot be read from the database and have no effect, such "
                    + "as profile \"mirror\" or task 17, found so far; at most 1,000 tasks. For operators."
            ),
            .optional(
                "config_problem", \.configurationProblem,
                "Reason why the configuration file was not applied when it was last read; for operators."),
            .optional(
                "config_conflicts", \.configurationConflicts,
                "Trust policies and profiles of the configuration file that are not in force, because others with their "
                    + "names or hosts were set over RPC, each with the remedy; for operators."),
            .optional(
                "restart_keys", \.keysWaitingForRestart,
                "Keys of the configuration whose new values wait for a restart; for operators."),
            .optional(
                "failing_webhooks", \.failingWebhooks,
                "Webhooks that did not accept the last delivery, each with the reason; for operators."),
            .optional("queue_paused", \.queuePaused, "True if an operator has paused the queue."),
            .optional(
                "file_systems", \.fileSystems,
                "File systems that the daemon has used and that are still mounted; for operators."),
            .required("shutting_down", \.shuttingDown, "True if it is about to stop and accepts no new work."),
            .required("counts", \.counts, "Tasks by state."),
            .required("network", \.network, "State of the network in the last network.changed."),
            .required("activity", \.activity, "True if transfers run, debounced."),
        ]
    }
}

/// `daemon.config`: the settings in force.
public enum DaemonConfig: RPCMethod {
    public typealias Params = NoParams

    public static let name = "daemon.config"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "Every setting with its value and the value's origin. Operators only."

    public static let examples = [
        MethodExample(
            "two settings", params: [:],
            result: [
                "file": "/home/ada/.config/xferd/config.yaml",
                "settings": [
                    [
                        "key": "queue.max_active", "value": "3", "origin": "/home/ada/.config/xferd/config.yaml:2",
                        "reloadable": true,
                    ],
                    ["key": "rpc.max_clients", "value": "256", "origin": "default", "reloadable": false],
                ],
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var file: String?
        public var settings: [Setting] = []

        public init() {}

        public init(file: String?, settings: [Setting]) {
            self.file = file
            self.settings = settings
        }

        public static let summary = "The settings in force."
        public static let wireFields: WireFields<Self> = [
            .nullable("file", \.file, "Absolute path of the configuration file that was read; null if there was none."),
            .required("settings", \.settings, "Every setting."),
        ]
    }

    public struct Setting: WireRecord, Hashable {
        public var key = ""
        public var value = JSONValue.null
        public var origin = ""
        public var reloadable = false

        public init() {}

        public init(key: String, value: JSONValue, origin: String, reloadable: Bool) {
            self.key = key
            self.value = value
            self.origin = origin
            self.reloadable = reloadable
        }

        public static let summary = "One setting."
        public static let wireFields: WireFields<Self> = [
            .required("key", \.key, "Its name in the configuration file, with dots."),
            .required("value", \.value, "Its value in the form of the configuration file: YAML text."),
            .required(
                "origin", \.origin,
                "Origin of the value, for people: command line, environment NAME, FILE:LINE, queue.set_limits or default."
            ),
            .required("reloadable", \.reloadable, "True if a change takes effect without a restart."),
        ]

        /// The text without the quotes of the configuration file; nil if there is none.
        public var text: String? { value.stringValue.flatMap(Self.text) }

        /// The text of a value in the form of the configuration file, which is quoted or bare; nil for an empty one.
        public static func text(_ value: String) -> String? {
            guard !value.isEmpty else { return nil }
            return (try? JSONValue(parsing: Array(value.utf8)))?.stringValue ?? value
        }
    }
}

/// `daemon.backup`: writes a copy of the database.
public enum DaemonBackup: RPCMethod {
    public static let name = "daemon.backup"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Writes a consistent copy of the database into a new file on the daemon's machine, with mode 0600, while "
        + "everything continues. xferd --restore reads it. Operators only."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "into the state directory", params: ["file": "/var/lib/xferd/state/monday.backup"],
            result: [
                "file": "/var/lib/xferd/state/monday.backup", "size": 1_204_224,
                "store_id": "5f0c6a52c8e94d0b", "seq": 8125,
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var file = ""

        public init() {}
        public init(file: String) { self.file = file }

        public static let summary = "Path of the copy."
        public static let wireFields: WireFields<Self> = [
            .required(
                "file", \.file,
                "Absolute path of a file that does not exist, in a directory that the daemon can write to.",
                .length(2...4096), example: "/var/lib/xferd/state/monday.backup")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var file = ""
        public var size: Int64 = 0
        public var storeID = ""
        public var seq: Int64 = 0

        public init() {}

        public init(file: String, size: Int64, storeID: String, seq: Int64) {
            self.file = file
            self.size = size
            self.storeID = storeID
            self.seq = seq
        }

        public static let summary = "The copy that was written."
        public static let wireFields: WireFields<Self> = [
            .required("file", \.file, "Its absolute path."),
            .required("size", \.size, "Its length in bytes."),
            .required("store_id", \.storeID, "The id of the database that was copied."),
            .required("seq", \.seq, "The sequence number of the newest event in it."),
        ]
    }
}

/// `daemon.shutdown`: stops the daemon after the answer.
public enum DaemonShutdown: RPCMethod {
    public static let name = "daemon.shutdown"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Stops the daemon, after answering: suspend checkpoints and stops at once, drain finishes running tasks and "
        + "refuses adds, cancel cancels every unfinished task. Operators only."
    public static let examples = [
        MethodExample("after the running tasks", params: ["mode": "drain"], result: ["mode": "drain"])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var mode = ShutdownMode.suspend

        public init() {}
        public init(mode: ShutdownMode) { self.mode = mode }

        public static let summary = "Mode of the shutdown."
        public static let wireFields: WireFields<Self> = [
            .defaulted("mode", \.mode, "Treatment of unfinished tasks.")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var mode = OpenEnum(ShutdownMode.suspend)

        public init() {}
        public init(mode: ShutdownMode) { self.mode = OpenEnum(mode) }

        public static let summary = "Mode of the shutdown."
        public static let wireFields: WireFields<Self> = [.required("mode", \.mode, "Mode of the shutdown.")]
    }
}

/// `rpc.discover`: the OpenRPC document (OpenRPC's service discovery method).
public enum RPCDiscover: RPCMethod {
    public typealias Params = NoParams
    public typealias Result = JSONObject

    public static let name = "rpc.discover"
    public static let access = MethodAccess.users
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary = "The OpenRPC document that describes every method, event and error."
    public static let examples = [
        MethodExample(
            "shortened", params: [:],
            result: ["openrpc": "1.3.2", "info": ["title": "xferd", "version": "1.0.0"], "methods": []])
    ]
}
