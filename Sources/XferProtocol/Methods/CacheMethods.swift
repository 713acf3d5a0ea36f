import StrictJSON
public import XferModel

/// The methods of `cache.*`, in the order of the document.
enum CacheMethods {
    static let all: [any RPCMethod.Type] = [
        CacheStats.self, CacheList.self, CacheGet.self, CachePut.self, CacheRemove.self, CacheClear.self,
        CacheTrim.self,
    ]
}

/// `cache.stats`: the size of the cache and its limits.
public enum CacheStats: RPCMethod {
    public typealias Params = NoParams

    public static let name = "cache.stats"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary =
        "Size and limits of the cache: the caller's part, or every user's for an operator."
    public static let examples = [
        MethodExample(
            "half full", params: [:],
            result: ["entries": 812, "size": 536_870_912, "max_bytes": 1_073_741_824, "max_age": 604_800])
    ]

    public struct Result: WireRecord, Hashable {
        public var entries: Int64 = 0
        public var size: Int64 = 0
        public var maxBytes: Int64 = 0
        public var maxAge: Int64 = 0

        public init() {}

        public static let summary = "Size of the cache, and its limits."
        public static let wireFields: WireFields<Self> = [
            .required("entries", \.entries, "Number of cached responses."),
            .required("size", \.size, "Total length of their contents in bytes."),
            .required("max_bytes", \.maxBytes, "Limit of all contents in bytes; the least recently used are removed."),
            .required("max_age", \.maxAge, "Seconds for which a response is kept after its last use."),
        ]
    }
}

/// `cache.list`: the cached responses.
public enum CacheList: RPCMethod {
    public static let name = "cache.list"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Cached responses: the caller's own, or every user's for an operator, page by page."
    public static let examples = [
        MethodExample(
            "the newest", params: ["limit": 1],
            result: ["entries": [CacheGet.example], "next_cursor": nil])
    ]

    public struct Params: PageParams, Hashable {
        public var order = ListOrder.descending
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "The length of a page, and the cursor to continue from."
        public static let wireFields: WireFields<Self> = [
            .defaulted("order", \.order, "Order by the time of storing: newest first (desc) or oldest first (asc)."),
            .defaulted("limit", \.limit, "Highest number of entries in one answer.", .range(1...1000)),
            .optional(
                "cursor", \.cursor, "next_cursor of the previous page; the order must be the same.", .length(1...1024)),
        ]
    }

    public struct Result: PageRecord, Hashable {
        public var entries: [CacheEntryRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [CacheEntryRecord]> { \.entries }

        public static let summary = "One page of the cache."
        public static let wireFields: WireFields<Self> = [
            .required("entries", \.entries, "The entries."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `cache.get`: one cached response.
public enum CacheGet: RPCMethod {
    public static let name = "cache.get"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary = "A cached response with its header fields, without its content."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "one", params: ["id": 3],
            result: ["entry": example.with(["response_headers": ["ETag": "\"a1\"", "Cache-Control": "max-age=60"]])])
    ]

    static let example: JSONValue = [
        "id": 3, "owner": 1000, "url": "https://example.org/list.json?token=***", "http_status": 200, "size": 4096,
        "etag": "\"a1\"", "received_at": "2026-01-02T03:04:05.678Z", "stored_at": "2026-01-02T03:04:05.690Z",
        "last_used_at": "2026-01-02T03:09:00.000Z", "fresh_until": "2026-01-02T04:04:05.000Z", "varies": ["accept"],
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = CacheEntryID(0)

        public init() {}
        public init(id: CacheEntryID) { self.id = id }

        public static let summary = "The entry."
        public static let wireFields: WireFields<Self> = [.required("id", \.id, "The entry's id.")]
    }

    public struct Result: WireRecord, Hashable {
        public var entry = CacheEntryRecord()

        public init() {}
        public init(entry: CacheEntryRecord) { self.entry = entry }

        public static let summary = "The entry."
        public static let wireFields: WireFields<Self> = [.required("entry", \.entry, "The entry.")]
    }
}

/// `cache.put`: stores content that the caller has.
public enum CachePut: RPCMethod {
    public typealias Result = CacheGet.Result

    public static let name = "cache.put"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Stores the caller's content as the response to a plain GET of a URL. The caller's tasks whose "
        + "cache_policy uses the cache get it without a request. It replaces the URL's cached response, and is "
        + "durable when the call returns. Over the network only with a token of the scope operate."
    public static let errors: [ErrorCode] = [.rejectedByPolicy, .limitExceeded, .storageUnavailable, .shuttingDown]
    public static let examples = [
        MethodExample(
            "a text", params: ["url": "https://example.org/motd.txt", "base64": "aGVsbG8K", "max_age": 3600],
            result: ["entry": example]),
        MethodExample(
            "a file that is checked",
            params: [
                "url": "https://example.org/motd.txt", "file": "/srv/motd.txt", "max_age": 3600,
                "checksum": "sha-256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
            ],
            result: ["entry": example]),
    ]

    private static let example: JSONValue = [
        "id": 4, "owner": 1000, "url": "https://example.org/motd.txt", "http_status": 200, "size": 6,
        "received_at": "2026-01-02T03:04:05.678Z", "stored_at": "2026-01-02T03:04:05.690Z",
        "last_used_at": "2026-01-02T03:04:05.690Z", "fresh_until": "2026-01-02T04:04:05.678Z",
        "digest": "sha-256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        "response_headers": ["Cache-Control": "max-age=3600"],
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var url = ""
        public var file: String?
        public var base64: Base64Text?
        public var checksum: Checksum?
        public var maxAge: Int64 = 86_400
        public var contentType: String?
        public var cacheKey: CacheKeyInput?

        public init() {}
        public init(url: String) { self.url = url }

        public static let summary = "The URL, its content as a file or as base64, and the time for which it is fresh."
        public static let wireFields: WireFields<Self> = [
            .required(
                "url", \.url, "An absolute http or https URL; its host must not have a trust policy.",
                .length(1...TaskLimits.urlLength), example: "https://example.org/motd.txt"),
            .optional(
                "file", \.file, "Absolute path of a file, which is copied.", .length(1...TaskLimits.pathLength),
                .absolutePath, example: "/srv/motd.txt"
            )
            .restricted(to: .ownFiles),
            .optional("base64", \.base64, "In place of file: the content itself.", example: "aGVsbG8K"),
            .optional(
                "checksum", \.checksum,
                "The digest that the content must have, in the forms of task.add; otherwise nothing is stored.",
                example: "sha-256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"),
            .defaulted(
                "max_age", \.maxAge,
                "Seconds for which the cache_policy protocol uses it without a request; default 86400, a day. "
                    + "prefer_cache and only_if_cached use it afterwards, too.",
                .range(0...TaskLimits.longestWait)),
            .optional(
                "content_type", \.contentType, "Its media type; default is none.", .length(1...256), .printable,
                example: "text/plain"),
            .optional(
                "cache_key", \.cacheKey,
                "The cache_key of the tasks that are to use it: a text, or the parts of the URL to ignore.",
                example: ["ignore_params": ["token"]]),
        ]

        public func validate() throws(WireError) {
            guard (file != nil) != (base64 != nil) else {
                throw WireError(.conflictingFields, expected: "exactly one of file, base64")
            }
        }
    }
}

extension JSONValue {
    fileprivate func with(_ more: JSONObject) -> JSONValue {
        guard case .object(var object) = self else { return self }
        for (name, value) in more.members { object[name] = value }
        return .object(object)
    }
}

/// `cache.remove`: removes some responses.
public enum CacheRemove: RPCMethod {
    public static let name = "cache.remove"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Removes cached responses by their ids, or all of a URL, so that they are fetched again: the caller's own, or every user's for an "
        + "operator."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("by id", params: ["ids": [3, 9]], result: ["removed": [3], "missing": [9]]),
        MethodExample(
            "by URL", params: ["url": "https://example.org/list.json"], result: ["removed": [4], "missing": []]),
    ]

    public struct Params: RemovalParams, Hashable {
        public var ids: [CacheEntryID]?
        public var url: String?

        public init() {}

        public static let summary = "The entries: ids or url."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "The entries' ids.", .count(1...TaskLimits.batchSize)),
            .optional(
                "url", \.url,
                "An absolute http or https URL, secrets included, that was requested or that sent the response.",
                .length(1...TaskLimits.urlLength)),
        ]
    }

    public struct Result: RemovalRecord, Hashable {
        public var removed: [CacheEntryID] = []
        public var missing: [CacheEntryID] = []

        public init() {}

        public static let summary = "The ids that existed, and those that did not."
        public static let wireFields: WireFields<Self> = [
            .required("removed", \.removed, "The ids that existed."),
            .required("missing", \.missing, "Ids that did not exist, or belong to another user."),
        ]
    }
}

/// `cache.clear`: removes everything.
public enum CacheClear: RPCMethod {
    public typealias Params = NoParams

    public static let name = "cache.clear"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "Removes all cached responses; operators only."
    public static let errors: [ErrorCode] = [.permissionDenied, .storageUnavailable]
    public static let examples = [
        MethodExample("all of it", params: [:], result: ["removed_count": 12, "removed_size": 1_048_576])
    ]

    public struct Result: WireRecord, Hashable {
        public var removedCount: Int64 = 0
        public var removedSize: Int64 = 0

        public init() {}

        public init(removedCount: Int64, removedSize: Int64) {
            self.removedCount = removedCount
            self.removedSize = removedSize
        }

        public static let summary = "Number and size of the removed responses."
        public static let wireFields: WireFields<Self> = [
            .required("removed_count", \.removedCount, "Responses that were removed."),
            .required("removed_size", \.removedSize, "Total length of their contents in bytes."),
        ]
    }
}

/// `cache.trim`: makes the cache smaller now.
public enum CacheTrim: RPCMethod {
    public typealias Result = CacheClear.Result

    public static let name = "cache.trim"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Applies the cache's limits now, or lower ones this time only: responses not used for max_age are removed; if there is more "
        + "than max_bytes, the least recently used are removed until it is under half of that. Operators only."
    public static let errors: [ErrorCode] = [.permissionDenied, .storageUnavailable]
    public static let examples = [
        MethodExample(
            "to under 50 MiB", params: ["max_bytes": 104_857_600],
            result: ["removed_count": 3, "removed_size": 62_914_560])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var maxBytes: Int64?
        public var maxAge: Int64?

        public init() {}

        public static let summary = "Limits that are lower than the configured ones."
        public static let wireFields: WireFields<Self> = [
            .optional(
                "max_bytes", \.maxBytes,
                "Bytes of all contents; above this, responses are removed until at most half of it is left.",
                .range(0...(1 << 50))),
            .optional("max_age", \.maxAge, "Seconds since the last use.", .range(0...TaskLimits.longestWait)),
        ]
    }
}
