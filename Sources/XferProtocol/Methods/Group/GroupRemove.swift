import StrictJSON

/// `group.remove`: forgets what is set for a group.
public enum GroupRemove: RPCMethod {
    public typealias Params = GroupGet.Params

    public static let name = "group.remove"
    public static let summary =
        "Forgets what is set for a group: its limit and its pause. Its tasks stay in it, and it is there as long as they "
        + "are. Operators only."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("as if never set", params: ["name": "isos"], result: ["removed": true])
    ]

    public struct Result: WireRecord, Hashable {
        public var removed = false

        public init() {}
        public init(removed: Bool) { self.removed = removed }

        public static let summary = "Whether there was such a group."
        public static let wireFields: WireFields<Self> = [
            .required("removed", \.removed, "Whether there was such a group.")
        ]
    }
}
