import StrictJSON
public import XferModel

/// `failed_url.remove`: lets a URL be asked for again.
public enum FailedURLRemove: RPCMethod {
    public static let name = "failed_url.remove"
    public static let summary =
        "Removes entries by their ids, or all about a URL: it is asked for again. The caller's own, or everybody's for an "
        + "operator."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("by id", params: ["ids": [3, 9]], result: ["removed": [3], "missing": [9]]),
        MethodExample(
            "by URL", params: ["url": "https://example.org/gone.iso"], result: ["removed": [4], "missing": []]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [FailedURLID]?
        public var url: String?

        public init() {}
        public init(ids: [FailedURLID]) { self.ids = ids }
        public init(url: String) { self.url = url }

        public static let summary = "Which entries: ids or url."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "The entries' ids.", .count(1...TaskLimits.batchSize)),
            .optional(
                "url", \.url, "An absolute http or https URL as it was added, secrets included.",
                .length(1...TaskLimits.urlLength)),
        ]

        public func validate() throws(WireError) {
            if ids != nil, url != nil { throw WireError(.conflictingFields, at: "url", expected: "no ids beside url") }
            if ids == nil, url == nil { throw WireError(.missing, at: "ids", expected: "ids or url") }
        }
    }

    public struct Result: WireRecord, Hashable {
        public var removed: [FailedURLID] = []
        public var missing: [FailedURLID] = []

        public init() {}

        public init(removed: [FailedURLID], missing: [FailedURLID]) {
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
