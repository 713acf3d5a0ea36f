import StrictJSON

/// `cache.clear`: forgets everything.
public enum CacheClear: RPCMethod {
    public typealias Params = NoParams

    public static let name = "cache.clear"
    public static let summary = "Forgets everything the cache keeps; operators only."
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

        public static let summary = "How much went."
        public static let wireFields: WireFields<Self> = [
            .required("removed_count", \.removedCount, "Responses that were forgotten."),
            .required("removed_size", \.removedSize, "Bytes of their contents."),
        ]
    }
}
