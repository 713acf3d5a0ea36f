import StrictJSON
public import XferModel

/// The methods of `failed_url.*`, in the order of the document.
enum FailedURLMethods {
    static let all: [any RPCMethod.Type] = [FailedURLList.self, FailedURLRemove.self, FailedURLClear.self]
}

/// `failed_url.list`: the permanently failed URLs.
public enum FailedURLList: RPCMethod {
    public static let name = "failed_url.list"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Permanently failed URLs, refused for a while: adds fail at once with blocked_url unless retry_failed is set. "
        + "The caller's own, or every user's for an operator, page by page."
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

    public struct Params: PageParams, Hashable {
        public var order = ListOrder.descending
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "The length of a page, and the cursor to continue from."
        public static let wireFields: WireFields<Self> = [
            .defaulted(
                "order", \.order,
                "Order by the time of the failure: newest first (desc) or oldest first (asc)."),
            .defaulted("limit", \.limit, "Highest number of entries in one answer.", .range(1...1000)),
            .optional(
                "cursor", \.cursor, "next_cursor of the previous page; the order must be the same.", .length(1...1024)),
        ]
    }

    public struct Result: PageRecord, Hashable {
        public var entries: [FailedURLRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [FailedURLRecord]> { \.entries }

        public static let summary = "One page of the list."
        public static let wireFields: WireFields<Self> = [
            .required("entries", \.entries, "The entries."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `failed_url.remove`: allows requests of a URL again.
public enum FailedURLRemove: RPCMethod {
    public static let name = "failed_url.remove"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Removes entries by their ids, or all for a URL, so that it may be requested again: the caller's own, or every user's for an "
        + "operator."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("by id", params: ["ids": [3, 9]], result: ["removed": [3], "missing": [9]]),
        MethodExample(
            "by URL", params: ["url": "https://example.org/gone.iso"], result: ["removed": [4], "missing": []]),
    ]

    public struct Params: RemovalParams, Hashable {
        public var ids: [FailedURLID]?
        public var url: String?

        public init() {}

        public static let summary = "The entries: ids or url."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "The entries' ids.", .count(1...TaskLimits.batchSize)),
            .optional(
                "url", \.url, "An absolute http or https URL as it was added, secrets included.",
                .length(1...TaskLimits.urlLength)),
        ]
    }

    public struct Result: RemovalRecord, Hashable {
        public var removed: [FailedURLID] = []
        public var missing: [FailedURLID] = []

        public init() {}

        public static let summary = "The ids that existed, and those that did not."
        public static let wireFields: WireFields<Self> = [
            .required("removed", \.removed, "The ids that existed."),
            .required("missing", \.missing, "Ids that did not exist, or belong to another user."),
        ]
    }
}

/// `failed_url.clear`: empties the list.
public enum FailedURLClear: RPCMethod {
    public typealias Params = NoParams

    public static let name = "failed_url.clear"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary = "Removes all entries: the caller's own, or every user's for an operator."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [MethodExample("all of them", params: [:], result: ["removed_count": 12])]

    public struct Result: WireRecord, Hashable {
        public var removedCount = 0

        public init() {}
        public init(removedCount: Int) { self.removedCount = removedCount }

        public static let summary = "Number of removed entries."
        public static let wireFields: WireFields<Self> = [
            .required("removed_count", \.removedCount, "Entries that were removed.")
        ]
    }
}
