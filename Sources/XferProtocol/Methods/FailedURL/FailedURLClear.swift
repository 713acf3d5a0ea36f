import StrictJSON

/// `failed_url.clear`: empties the list.
public enum FailedURLClear: RPCMethod {
    public typealias Params = NoParams

    public static let name = "failed_url.clear"
    public static let summary = "Removes all entries of the caller's, or everybody's for an operator."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [MethodExample("all of them", params: [:], result: ["removed_count": 12])]

    public struct Result: WireRecord, Hashable {
        public var removedCount = 0

        public init() {}
        public init(removedCount: Int) { self.removedCount = removedCount }

        public static let summary = "How many there were."
        public static let wireFields: WireFields<Self> = [
            .required("removed_count", \.removedCount, "Entries that were removed.")
        ]
    }
}
