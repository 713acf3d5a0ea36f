import StrictJSON
public import XferModel

/// `group.get`: a group's settings and counts.
public enum GroupGet: RPCMethod {
    public static let name = "group.get"
    public static let summary = "A group: what is set for it, and its tasks by state."
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

        public static let summary = "Which group."
        public static let wireFields: WireFields<Self> = [.groupName(\.name), .groupOwner(\.owner)]
    }

    public struct Result: WireRecord, Hashable {
        public var group = GroupRecord()

        public init() {}
        public init(_ group: TaskGroup) { self.group = GroupRecord(group) }

        public static let summary = "The group as it is now."
        public static let wireFields: WireFields<Self> = [.required("group", \.group, "The group as it is now.")]
    }
}

extension WireField {
    static func groupName(_ path: any WritableKeyPath<Record, String> & Sendable) -> WireField {
        .required("name", path, "The group's name.", .length(1...TaskLimits.nameLength), .printable)
    }

    static func groupOwner(_ path: any WritableKeyPath<Record, Owner?> & Sendable) -> WireField {
        .optional("owner", path, "Whose group, for operators; default is the caller's own.")
    }
}

/// What the groups' methods have in their examples.
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
