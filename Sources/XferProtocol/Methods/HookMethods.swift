import StrictJSON
public import XferModel

/// The methods of `hook.*`, in the order of the document.
enum HookMethods {
    static let all: [any RPCMethod.Type] = [HookList.self]
}

/// `hook.list`: the operator's commands.
public enum HookList: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "hook.list"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "The commands that tasks can refer to, by name. They are defined in the configuration file."
    public static let examples = [
        MethodExample(
            "one hook", params: [:],
            result: [
                "hooks": [
                    ["name": "scan", "argv": ["/usr/bin/clamdscan", "--no-summary"], "timeout": 60, "guests": true]
                ], "next_cursor": nil,
            ])
    ]

    public struct Result: PageRecord, Hashable {
        public var hooks: [HookRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [HookRecord]> { \.hooks }

        public static let summary = "All hooks."
        public static let wireFields: WireFields<Self> = [
            .required("hooks", \.hooks, "The hooks, by name."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// A command that tasks can name.
public struct HookRecord: WireRecord, Hashable {
    public var name = ""
    public var argv: [String] = []
    public var timeout: Int64 = 60
    public var guests = false

    public init() {}

    public init(_ definition: HookDefinition) {
        name = definition.name
        argv = definition.arguments
        timeout = definition.timeout
        guests = definition.isForGuests
    }

    public static let summary = "A command that tasks can refer to."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "Its name."),
        .required("argv", \.argv, "The program's absolute path and its arguments."),
        .required("timeout", \.timeout, "Seconds it may take."),
        .required("guests", \.guests, "True if tasks of users who are not operators may refer to it."),
    ]
}
