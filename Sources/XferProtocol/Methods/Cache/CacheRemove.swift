import StrictJSON
public import XferModel

/// `cache.remove`: forgets some responses.
public enum CacheRemove: RPCMethod {
    public static let name = "cache.remove"
    public static let summary =
        "Forgets responses by their ids, or all of a URL: they are fetched anew. The caller's own, or everybody's for an "
        + "operator."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("by id", params: ["ids": [3, 9]], result: ["removed": [3], "missing": [9]]),
        MethodExample(
            "by URL", params: ["url": "https://example.org/list.json"], result: ["removed": [4], "missing": []]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [CacheEntryID]?
        public var url: String?

        public init() {}
        public init(ids: [CacheEntryID]) { self.ids = ids }
        public init(url: String) { self.url = url }

        public static let summary = "Which entries: ids or url."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "The entries' ids.", .count(1...TaskLimits.batchSize)),
            .optional(
                "url", \.url,
                "An absolute http or https URL, secrets included: what was asked for under it or came from it.",
                .length(1...TaskLimits.urlLength)),
        ]

        public func validate() throws(WireError) {
            if ids != nil, url != nil { throw WireError(.conflictingFields, at: "url", expected: "no ids beside url") }
            if ids == nil, url == nil { throw WireError(.missing, at: "ids", expected: "ids or url") }
        }
    }

    public struct Result: WireRecord, Hashable {
        public var removed: [CacheEntryID] = []
        public var missing: [CacheEntryID] = []

        public init() {}

        public init(removed: [CacheEntryID], missing: [CacheEntryID]) {
            self.removed = removed
            self.missing = missing
        }

        public static let summary = "What was there, and what was not."
        public static let wireFields: WireFields<Self> = [
            .required("removed", \.removed, "Those that were there."),
            .required("missing", \.missing, "Ids that were not there, or are somebody else's."),
        ]
    }
}
