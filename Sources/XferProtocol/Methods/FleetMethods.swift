import StrictJSON
public import XferModel

/// The methods of `fleet.*`, in the order of the document. `xfer-fleet` answers them, `xferd` does not.
enum FleetMethods {
    static let all: [any RPCMethod.Type] = [
        FleetStatus.self, FleetNodes.self, FleetAdd.self, FleetMove.self, FleetDrain.self, FleetUndrain.self,
        FleetForget.self, FleetLimit.self,
    ]
}

/// `fleet.status`: the fleet as seen by the node that is called.
public enum FleetStatus: RPCMethod {
    public typealias Params = NoParams

    public static let name = "fleet.status"
    public static let access = MethodAccess.users
    public static let scope = MethodScope.read
    public static let summary =
        "Identity of the fleet, the number of its tasks in each state, and the health of this node. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "two nodes", params: [:],
            result: [
                "fleet": "8d3c2a61f04b4c57", "node": "a", "version": "1.0.0", "schema": 1, "daemon": true,
                "nodes": 2, "live": 2,
                "counts": [
                    "queued": 120, "waiting": 0, "running": 6, "paused": 0, "staged": 0, "completed": 40, "failed": 1,
                    "cancelled": 0,
                ],
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var fleet = ""
        public var node = ""
        public var version = ""
        public var schema = 0
        public var daemon = false
        public var daemonProblem: String?
        public var nodes = 0
        public var live = 0
        public var counts = StateCounts()

        public init() {}

        public static let summary = "State of the fleet as this node knows it."
        public static let wireFields: WireFields<Self> = [
            .required("fleet", \.fleet, "Identifies the fleet; changes with a new database."),
            .required("node", \.node, "The node that answers."),
            .required("version", \.version, "The version of its xfer-fleet."),
            .required("schema", \.schema, "The number of the database's schema."),
            .required("daemon", \.daemon, "True if the node's xferd answers."),
            .optional("daemon_problem", \.daemonProblem, "Reason why the node's xferd cannot be used."),
            .required("nodes", \.nodes, "Number of known nodes."),
            .required("live", \.live, "Number of nodes whose beats this node has recently observed."),
            .required("counts", \.counts, "Tasks by state."),
        ]
    }
}

/// The state of a node as observed by another one.
public enum FleetNodeState: String, WireEnum {
    /// The node sends beats.
    case live
    /// The node has sent no beat for a while; its tasks are not taken over yet.
    case silent
    /// The node is dead: its tasks for any node were queued again; tasks for this node alone wait.
    case down
}

/// A node of the fleet on the wire.
public struct FleetNodeRecord: WireRecord, Hashable {
    public var name = ""
    public var state = OpenEnum(FleetNodeState.live)
    public var draining = false
    public var places: [String] = []
    public var slots = 0
    public var leases: Int64 = 0
    public var pinned: Int64 = 0
    public var version = ""
    public var beat: Int64 = 0

    public init() {}

    public static let summary = "A node of the fleet."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "Identifies the node."),
        .required("state", \.state, "State of its beats, as seen by the node that answers."),
        .required("draining", \.draining, "True if it claims no new tasks."),
        .required("places", \.places, "Places whose tasks it claims, in addition to tasks for this node alone."),
        .required("slots", \.slots, "Highest number of tasks that it claims."),
        .required("leases", \.leases, "Tasks that it has claimed. A draining node with no tasks may be stopped."),
        .required("pinned", \.pinned, "Unfinished tasks that only it can carry out."),
        .required("version", \.version, "The version of its xfer-fleet."),
        .required("beat", \.beat, "Counter that grows while the node is alive."),
    ]
}

/// `fleet.nodes`: all nodes.
public enum FleetNodes: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "fleet.nodes"
    public static let access = MethodAccess.users
    public static let scope = MethodScope.read
    public static let summary = "All nodes, by name, with the number of their tasks. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("a draining node", params: [:], result: ["nodes": [FleetExample.node], "next_cursor": nil])
    ]

    public struct Result: PageRecord, Hashable {
        public var nodes: [FleetNodeRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [FleetNodeRecord]> { \.nodes }

        public static let summary = "The nodes by name."
        public static let wireFields: WireFields<Self> = [
            .required("nodes", \.nodes, "The nodes."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `fleet.add`: as `task.add` with several tasks, at a place.
public enum FleetAdd: RPCMethod {
    public typealias Result = TaskAdd.Many

    public static let name = "fleet.add"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.add
    public static let summary =
        "Adds up to 10,000 tasks for certain nodes, in one transaction. task.add adds them for any node, uploads for "
        + "the node that is called. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.conflict, .limitExceeded, .storageUnavailable, .shuttingDown]
    public static let examples = [
        MethodExample(
            "for one node", params: ["place": "node:a", "tasks": [["url": "https://example.org/a"]]],
            result: ["ids": [18], "existing": []])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var place = ""
        public var tasks: [NewTask] = []

        public init() {}

        public init(place: FleetPlace, tasks: [NewTask]) {
            self.place = place.description
            self.tasks = tasks
        }

        public static let summary = "The tasks, and the nodes that may run them."
        public static let wireFields: WireFields<Self> = [
            .required("place", \.place, "Nodes that may run them.", .place, example: "node:a"),
            .required("tasks", \.tasks, "The tasks, all or none.", .count(1...TaskLimits.batchSize)),
        ]
    }
}

/// `fleet.move`: moves tasks to another place.
public enum FleetMove: RPCMethod {
    public typealias Result = SelectionResult.Listed

    public static let name = "fleet.move"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Changes which nodes may run tasks. A task that a node has claimed is returned first; bytes it has received stay on that node "
        + "and are not used again. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "away from a dead node", params: ["ids": [17, 18], "place": "any"],
            result: ["changed": [17], "unchanged": [["id": 18, "state": "completed"]], "missing": []])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [TaskID] = []
        public var place = ""

        public init() {}

        public init(ids: [TaskID], place: FleetPlace) {
            self.ids = ids
            self.place = place.description
        }

        public static let summary = "The tasks, and the nodes that may run them from now on."
        public static let wireFields: WireFields<Self> = [
            .required("ids", \.ids, "The tasks.", .count(1...TaskLimits.batchSize)),
            .required("place", \.place, "Nodes that may run them from now on.", .place, example: "any"),
        ]
    }
}

/// `fleet.drain`: makes a node claim no more tasks.
public enum FleetDrain: RPCMethod {
    public static let name = "fleet.drain"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Drains a node: it finishes its tasks and claims no new ones, also after restarts. When it has none, it may be stopped. "
        + "Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.notFound, .storageUnavailable]
    public static let examples = [
        MethodExample("before maintenance", params: ["node": "a"], result: ["node": FleetExample.node])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var node = ""

        public init() {}
        public init(node: String) { self.node = node }

        public static let summary = "The node."
        public static let wireFields: WireFields<Self> = [.fleetNode(\.node)]
    }

    public struct Result: WireRecord, Hashable {
        public var node = FleetNodeRecord()

        public init() {}
        public init(_ node: FleetNodeRecord) { self.node = node }

        public static let summary = "Present state of the node."
        public static let wireFields: WireFields<Self> = [.required("node", \.node, "Present state of the node.")]
    }
}

/// `fleet.undrain`: lets a node claim tasks again.
public enum FleetUndrain: RPCMethod {
    public typealias Params = FleetDrain.Params
    public typealias Result = FleetDrain.Result

    public static let name = "fleet.undrain"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "Lets a drained node claim tasks again. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.notFound, .storageUnavailable]
    public static let examples = [
        MethodExample("after maintenance", params: ["node": "a"], result: ["node": FleetExample.liveNode])
    ]
}

/// `fleet.forget`: removes a node that is lost.
public enum FleetForget: RPCMethod {
    public static let name = "fleet.forget"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Removes a node that is permanently lost. Without confirm it only returns the effects on its tasks: those for any node "
        + "are queued again, unfinished ones for it alone fail. Its partial files on shared storages are removed where this "
        + "node has them mounted. A live node is not removed. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.notFound, .invalidState, .storageUnavailable]
    public static let examples = [
        MethodExample(
            "only the effects", params: ["node": "c"],
            result: [
                "forgotten": false, "requeued": [12], "failed": [9], "requeued_count": 1, "failed_count": 1,
                "parts": 2, "storages_left": [],
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var node = ""
        public var confirm = false

        public init() {}

        public init(node: String, confirm: Bool) {
            self.node = node
            self.confirm = confirm
        }

        public static let summary = "The node, and the confirmation."
        public static let wireFields: WireFields<Self> = [
            .fleetNode(\.node),
            .defaulted("confirm", \.confirm, "True to remove the node; false only returns the effects."),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var forgotten = false
        public var requeued: [TaskID] = []
        public var failed: [TaskID] = []
        public var requeuedCount: Int64 = 0
        public var failedCount: Int64 = 0
        public var parts: Int64 = 0
        public var storagesLeft: [String] = []

        public init() {}

        public static let summary = "Effects of removing the node on its tasks."
        public static let wireFields: WireFields<Self> = [
            .required("forgotten", \.forgotten, "True if the node was removed."),
            .required("requeued", \.requeued, "Tasks that other nodes take, at most 1,000 of them."),
            .required("failed", \.failed, "Tasks that no other node can take, at most 1,000 of them."),
            .required("requeued_count", \.requeuedCount, "Number of tasks that are queued again."),
            .required("failed_count", \.failedCount, "Number of tasks that fail."),
            .required(
                "parts", \.parts,
                "Number of the node's partial files on shared storages; with confirm they were removed."),
            .required(
                "storages_left", \.storagesLeft,
                "Shared storages that this node cannot read: partial files may remain there."),
        ]
    }
}

/// `fleet.limit`: bounds transfers from a host over all nodes.
public enum FleetLimit: RPCMethod {
    public typealias Result = Done

    public static let name = "fleet.limit"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Sets an exact limit on one host's tasks that all nodes together may run. Answered by xfer-fleet."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("at most ten", params: ["host": "example.org", "max_active": 10], result: [:])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var host = ""
        public var maxActive: Int?

        public init() {}

        public init(host: String, maxActive: Int?) {
            self.host = host
            self.maxActive = maxActive
        }

        public static let summary = "A host and its limit."
        public static let wireFields: WireFields<Self> = [
            .required("host", \.host, "The host's name as in URLs.", .length(1...255), .visible),
            .nullable(
                "max_active", \.maxActive,
                "Highest number of tasks at a time; null is no limit.", .range(1...1_000_000)),
        ]
    }
}

extension WireField {
    static func fleetNode(_ path: any WritableKeyPath<Record, String> & Sendable) -> WireField {
        .required("node", path, "The node's name.", .length(1...64), .visible, example: "a")
    }
}

extension WireLimit {
    static let place = WireLimit.form(
        "^(any|(node|label|storage):[A-Za-z0-9._-]{1,64})$", expected: FleetPlace.expected
    ) { FleetPlace($0) != nil }
}

/// The values in the examples of the fleet's methods.
private enum FleetExample {
    static let node: JSONValue = [
        "name": "a", "state": "live", "draining": true, "places": ["any"], "slots": 64, "leases": 3, "pinned": 0,
        "version": "1.0.0", "beat": 4711,
    ]
    static let liveNode: JSONValue = [
        "name": "a", "state": "live", "draining": false, "places": ["any"], "slots": 64, "leases": 0, "pinned": 0,
        "version": "1.0.0", "beat": 4712,
    ]
}
