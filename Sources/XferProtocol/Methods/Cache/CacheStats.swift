import StrictJSON

/// `cache.stats`: how much is kept.
public enum CacheStats: RPCMethod {
    public typealias Params = NoParams

    public static let name = "cache.stats"
    public static let summary =
        "How much the cache keeps of the caller's, or of everybody's for an operator, and its limits."
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

        public static let summary = "What is kept, and the limits."
        public static let wireFields: WireFields<Self> = [
            .required("entries", \.entries, "Responses that are kept."),
            .required("size", \.size, "Bytes of their contents."),
            .required("max_bytes", \.maxBytes, "Bytes of all contents; over it the least recently used go."),
            .required("max_age", \.maxAge, "Seconds since its last use for which a response is kept."),
        ]
    }
}
