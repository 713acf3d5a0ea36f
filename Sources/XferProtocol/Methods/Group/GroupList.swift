import StrictJSON

/// `group.list`: groups with their settings and counts.
public enum GroupList: RPCMethod {
    public static let name = "group.list"
    public static let isBulk = true
    public static let summary =
        "Groups by owner and name, page by page: the caller's own, or everybody's for an operator. A group is there "
        + "while it has tasks or something is set for it."
    public static let examples = [
        MethodExample("one group", params: [:], result: ["groups": [GroupExample.running], "next_cursor": nil])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "How many at once, and where to go on."
        public static let wireFields: WireFields<Self> = [
            .defaulted("limit", \.limit, "Most groups in one answer.", .range(1...1000)),
            .optional("cursor", \.cursor, "next_cursor of the page before.", .length(1...1024)),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var groups: [GroupRecord] = []
        public var nextCursor: String?

        public init() {}

        public init(groups: [GroupRecord], nextCursor: String?) {
            self.groups = groups
            self.nextCursor = nextCursor
        }

        public static let summary = "One page of the groups."
        public static let wireFields: WireFields<Self> = [
            .required("groups", \.groups, "The groups."),
            .nullable("next_cursor", \.nextCursor, "Where the next page begins; null after the last."),
        ]
    }
}
