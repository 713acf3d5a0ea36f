import StrictJSON

/// `cache.trim`: makes the cache smaller now.
public enum CacheTrim: RPCMethod {
    public typealias Result = CacheClear.Result

    public static let name = "cache.trim"
    public static let summary =
        "Applies the cache's limits now, or narrower ones this once: what was not used for max_age goes; if there is more "
        + "than max_bytes, the least recently used go until it is under half of that. Operators only."
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

        public static let summary = "Limits that are narrower than the configured ones."
        public static let wireFields: WireFields<Self> = [
            .optional(
                "max_bytes", \.maxBytes, "Bytes of all contents; if there are more, half of that is left at most.",
                .range(0...(1 << 50))),
            .optional("max_age", \.maxAge, "Seconds since the last use.", .range(0...TaskLimits.longestWait)),
        ]
    }
}
