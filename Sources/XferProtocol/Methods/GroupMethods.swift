import StrictJSON
public import XferModel

/// The methods of `group.*`, in the order of the document.
enum GroupMethods {
    static let all: [any RPCMethod.Type] = [
        GroupList.self, GroupGet.self, GroupSet.self, GroupPause.self, GroupResume.self, GroupRemove.self,
    ]
}

/// `group.list`: groups with their settings and counts.
public enum GroupList: RPCMethod {
    public static let name = "group.list"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Groups by owner and name, page by page: the caller's own, or every user's for an operator. A group exists "
        + "while it has tasks or settings."
    public static let examples = [
        MethodExample("one group", params: [:], result: ["groups": [GroupExample.running], "next_cursor": nil])
    ]

    public struct Params: PageParams, Hashable {
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "The length of a page, and the cursor to continue from."
        public static let wireFields: WireFields<Self> = [
            .defaulted("limit", \.limit, "Highest number of groups in one answer.", .range(1...1000)),
            .optional("cursor", \.cursor, "next_cursor of the previous page.", .length(1...1024)),
        ]
    }

    public struct Result: PageRecord, Hashable {
        public var groups: [GroupRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [GroupRecord]> { \.groups }

        public static let summary = "One page of the groups."
        public static let wireFields: WireFields<Self> = [
            .required("groups", \.groups, "The groups."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `group.get`: a group's settings and counts.
public enum GroupGet: RPCMethod {
    public static let name = "group.get"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary = "A group: its settings, and its tasks by state."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample("a paused group", params: ["name": "isos"], result: ["group": GroupExample.paused])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        public var owner: Owner?

        public init() {}

        public init(name: String, owner: Owner? = nil) {
            self.name = name
            self.owner = owner
        }

        public static let summary = "The group."
        public static let wireFields: WireFields<Self> = [.groupName(\.name), .groupOwner(\.owner)]
    }

    public struct Result: WireRecord, Hashable {
        public var group = GroupRecord()

        public init() {}
        public init(_ group: TaskGroup) { self.group = GroupRecord(group) }

        public static let summary = "Present state of the group."
        public static let wireFields: WireFields<Self> = [.required("group", \.group, "Present state of the group.")]
    }
}

extension WireField {
    static func groupName(_ path: any WritableKeyPath<Record, String> & Sendable) -> WireField {
        .required("name", path, "The group's name.", .length(1...TaskLimits.nameLength), .visible)
    }

    static func groupOwner(_ path: any WritableKeyPath<Record, Owner?> & Sendable) -> WireField {
        .optional("owner", path, "Owner of the group, for operators; default is the caller.")
            .restricted(to: .ownUID)
    }
}

/// The values in the examples of the groups' methods.
enum GroupExample {
    static let paused: JSONValue = [
        "name": "isos", "owner": 1000, "paused": true, "max_active": 2,
        "counts": [
            "queued": 120, "waiting": 0, "running": 0, "paused": 1, "staged": 0, "completed": 17, "failed": 3,
            "cancelled": 0,
        ],
    ]
    static let running: JSONValue = [
        "name": "isos", "owner": 1000, "paused": false, "max_active": 2,
        "counts": [
            "queued": 118, "waiting": 0, "running": 2, "paused": 1, "staged": 0, "completed": 17, "failed": 3,
            "cancelled": 0,
        ],
    ]
}

/// `group.set`: changes the settings of a group.
public enum GroupSet: RPCMethod {
    public typealias Result = GroupGet.Result

    public static let name = "group.set"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Sets a group's own limits, also before it has tasks; they also apply after a restart. The queue's limits apply as well. "
        + "Transfers that exceed a lower limit continue. Operators only."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "two at once", params: ["name": "isos", "max_active": 2], result: ["group": GroupExample.running])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        public var owner: Owner?
        public var maxActive = Patch<Int>.unchanged
        public var maxReceiveRate = Patch<Int64>.unchanged
        public var maxSendRate = Patch<Int64>.unchanged

        public init() {}

        public static let summary = "The group, and the limits to set."
        public static let wireFields: WireFields<Self> = [
            .groupName(\.name), .groupOwner(\.owner),
            .patch(
                "max_active", \.maxActive, "Highest number of its transfers at once; null removes the limit.",
                .range(GroupLimits.activeRange)),
            .patch(
                "max_recv_rate", \.maxReceiveRate,
                "Bytes per second its transfers may receive together; null removes the limit.",
                .range(1...BandwidthLimits.highest)),
            .patch(
                "max_send_rate", \.maxSendRate,
                "Bytes per second its transfers may send together; null removes the limit.",
                .range(1...BandwidthLimits.highest)),
        ]

        public func validate() throws(WireError) {
            guard maxActive.isChange || maxReceiveRate.isChange || maxSendRate.isChange else {
                throw WireError(.missing, expected: "at least one limit to change")
            }
        }
    }
}

/// `group.pause`: pauses a group.
public enum GroupPause: RPCMethod {
    public typealias Result = GroupGet.Result

    public static let name = "group.pause"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Pauses a group until group.resume, also across restarts and for tasks that are added later. "
        + "Its tasks stay queued; running transfers continue unless running is true."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "with its running tasks", params: ["name": "isos", "running": true], result: ["group": GroupExample.paused])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        public var owner: Owner?
        public var running = false

        public init() {}

        public init(name: String, owner: Owner? = nil, running: Bool = false) {
            self.name = name
            self.owner = owner
            self.running = running
        }

        public static let summary = "The group, and whether to pause its running tasks."
        public static let wireFields: WireFields<Self> = [
            .groupName(\.name), .groupOwner(\.owner),
            .defaulted(
                "running", \.running,
                "True to return running tasks to the queue with their bytes; tasks that could not be continued keep "
                    + "running."),
        ]
    }
}

/// `group.resume`: resumes a group.
public enum GroupResume: RPCMethod {
    public typealias Params = GroupGet.Params
    public typealias Result = GroupGet.Result

    public static let name = "group.resume"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary = "Resumes a group. Tasks that are paused themselves stay paused."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("continue", params: ["name": "isos"], result: ["group": GroupExample.running])
    ]
}

/// `group.remove`: removes the settings of a group.
public enum GroupRemove: RPCMethod {
    public typealias Params = GroupGet.Params

    public static let name = "group.remove"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Removes the settings of a group: its limit and its pause. Its tasks stay in it; the group exists as long as it has "
        + "tasks. Operators only."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("as if never set", params: ["name": "isos"], result: ["removed": true])
    ]

    public struct Result: WireRecord, Hashable {
        public var removed = false

        public init() {}
        public init(removed: Bool) { self.removed = removed }

        public static let summary = "True if the group existed."
        public static let wireFields: WireFields<Self> = [
            .required("removed", \.removed, "True if the group existed.")
        ]
    }
}
