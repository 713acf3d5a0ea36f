import StrictJSON
public import XferModel

/// `task.record_digest`: stores the digest of a published file.
public enum TaskRecordDigest: RPCMethod {
    public static let name = "task.record_digest"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Records a digest that the client has computed of a completed download's file, for later verifications. It is "
        + "accepted only while the published file is unchanged, and never replaces a known digest. The "
        + "answer contains the known digest."
    public static let errors: [ErrorCode] = [.notFound, .invalidState, .storageUnavailable]

    public static let examples = [
        MethodExample(
            "after the file was read", params: ["id": 17, "digest": .string(digest)],
            result: ["digest": .string(digest)])
    ]

    private static let digest = "sha-256=" + String(repeating: "5f", count: 32)

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var digest = ""

        public init() {}

        public init(id: TaskID, digest: Checksum) {
            self.id = id
            self.digest = digest.description
        }

        public static let summary = "The task, and the digest of its file."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .required("digest", \.digest, "Algorithm and hexadecimal digits, such as sha-256=HEX.", .length(1...256)),
        ]

        public func validate() throws(WireError) { _ = try checksum() }

        /// The digest as a value.
        public func checksum() throws(WireError) -> Checksum {
            guard let checksum = try? Checksum(parsing: digest) else {
                throw WireError(.invalidValue, at: "digest", expected: "an algorithm and its digits: sha-256=HEX")
            }
            return checksum
        }
    }

    public struct Result: WireRecord, Hashable {
        public var digest = ""

        public init() {}
        public init(digest: Checksum) { self.digest = digest.description }

        public static let summary = "The known digest of the file."
        public static let wireFields: WireFields<Self> = [.required("digest", \.digest, "The digest.")]
    }
}
