import StrictJSON
public import XferModel

/// `batch.get`: how a batch stands.
public enum BatchGet: RPCMethod {
    public static let name = "batch.get"
    public static let summary =
        "How a batch stands. It is known while members are, and after that as long as finished tasks are kept."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "two of five failed", params: ["id": 4],
            result: [
                "batch": [
                    "id": 4, "owner": 1000, "group": "batch-4", "total": 5, "finished": 5, "skipped": 2,
                    "counts": [
                        "queued": 0, "waiting": 0, "running": 0, "paused": 0, "staged": 0, "completed": 3, "failed": 2,
                        "cancelled": 0,
                    ],
                    "created_at": "2026-01-02T03:04:05.678Z", "completed_at": "2026-01-02T03:05:00.001Z",
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = BatchID(0)

        public init() {}
        public init(id: BatchID) { self.id = id }

        public static let summary = "Which batch."
        public static let wireFields: WireFields<Self> = [.required("id", \.id, "The batch's id.")]
    }

    public struct Result: WireRecord, Hashable {
        public var batch = BatchRecord()

        public init() {}
        public init(_ batch: Batch) { self.batch = BatchRecord(batch) }

        public static let summary = "The batch as it is now."
        public static let wireFields: WireFields<Self> = [.required("batch", \.batch, "The batch as it is now.")]
    }
}
