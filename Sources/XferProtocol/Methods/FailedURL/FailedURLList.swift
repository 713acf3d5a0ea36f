import StrictJSON

/// `failed_url.list`: the URLs that are not asked for again.
public enum FailedURLList: RPCMethod {
    public static let name = "failed_url.list"
    public static let isBulk = true
    public static let summary =
        "URLs that failed for good a while ago: adding one fails at once with blocked_url unless it says retry_failed. "
        + "The caller's own, or everybody's for an operator, page by page."
    public static let examples = [
        MethodExample(
            "the newest", params: ["limit": 1],
            result: [
                "entries": [
                    [
                        "id": 3, "url": "https://example.org/gone.iso?token=***", "method": "GET", "owner": 1000,
                        "task_id": 17,
                        "error": [
                            "reason": "http_status", "message": "example.org answered 404 (Not Found)",
                            "is_retriable": false, "http_status": 404, "host": "example.org",
                        ],
                        "failed_at": "2026-01-02T03:04:05.678Z", "expires_at": "2026-01-02T04:04:05.678Z",
                    ]
                ],
                "next_cursor": nil,
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var order = ListOrder.descending
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "How many at once, and where to go on."
        public static let wireFields: WireFields<Self> = [
            .defaulted("order", \.order, "Those that failed last (desc) or first (asc) come first."),
            .defaulted("limit", \.limit, "Most entries in one answer.", .range(1...1000)),
            .optional(
                "cursor", \.cursor, "next_cursor of the page before; the order must be the same.", .length(1...1024)),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var entries: [FailedURLRecord] = []
        public var nextCursor: String?

        public init() {}

        public init(entries: [FailedURLRecord], nextCursor: String?) {
            self.entries = entries
            self.nextCursor = nextCursor
        }

        public static let summary = "One page of the list."
        public static let wireFields: WireFields<Self> = [
            .required("entries", \.entries, "The entries."),
            .nullable("next_cursor", \.nextCursor, "Where the next page begins; null after the last."),
        ]
    }
}
