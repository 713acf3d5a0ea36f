import StrictJSON

/// `cache.list`: the responses that are kept.
public enum CacheList: RPCMethod {
    public static let name = "cache.list"
    public static let isBulk = true
    public static let summary =
        "Responses that the cache keeps: the caller's own, or everybody's for an operator, page by page."
    public static let examples = [
        MethodExample(
            "the newest", params: ["limit": 1],
            result: ["entries": [CacheGet.example], "next_cursor": nil])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var order = ListOrder.descending
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "How many at once, and where to go on."
        public static let wireFields: WireFields<Self> = [
            .defaulted("order", \.order, "Those that were kept last (desc) or first (asc) come first."),
            .defaulted("limit", \.limit, "Most entries in one answer.", .range(1...1000)),
            .optional(
                "cursor", \.cursor, "next_cursor of the page before; the order must be the same.", .length(1...1024)),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var entries: [CacheEntryRecord] = []
        public var nextCursor: String?

        public init() {}

        public init(entries: [CacheEntryRecord], nextCursor: String?) {
            self.entries = entries
            self.nextCursor = nextCursor
        }

        public static let summary = "One page of the cache."
        public static let wireFields: WireFields<Self> = [
            .required("entries", \.entries, "The entries."),
            .nullable("next_cursor", \.nextCursor, "Where the next page begins; null after the last."),
        ]
    }
}
