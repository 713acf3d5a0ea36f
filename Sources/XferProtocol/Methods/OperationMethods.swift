import StrictJSON
public import XferModel

/// The methods of `operation.*`, in the order of the document.
enum OperationMethods {
    static let all: [any RPCMethod.Type] = [OperationGet.self, OperationList.self, OperationCancel.self]
}

/// `operation.get`: one background operation.
public enum OperationGet: RPCMethod {
    public static let name = "operation.get"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary =
        "Progress or result of a background operation, started by a verb with background. An ended one is "
        + "kept for seven days, but only the last 100 of each user."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "in progress", params: ["id": 7],
            result: [
                "operation": [
                    "id": 7, "owner": 1000, "verb": "pause", "filter": ["group": "nightly"], "state": "running",
                    "changed_count": 41_000, "unchanged_count": 0, "reached": 41_020, "last": 1_000_000,
                    "created_at": "2026-01-02T03:04:05.678Z",
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = OperationID(0)

        public init() {}
        public init(id: OperationID) { self.id = id }

        public static let summary = "The operation."
        public static let wireFields: WireFields<Self> = [.required("id", \.id, "The operation.")]
    }

    public struct Result: WireRecord, Hashable {
        public var operation = OperationRecord()

        public init() {}
        public init(operation: OperationRecord) { self.operation = operation }

        public static let summary = "One operation."
        public static let wireFields: WireFields<Self> = [.required("operation", \.operation, "The operation.")]
    }
}

/// `operation.list`: the background operations.
public enum OperationList: RPCMethod {
    public static let name = "operation.list"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Background operations, the newest first: the caller's own, or every user's for an operator, page by page."
    public static let examples = [
        MethodExample(
            "the newest", params: ["limit": 1],
            result: [
                "operations": [
                    [
                        "id": 7, "owner": 1000, "verb": "remove", "filter": ["state": "completed"],
                        "state": "completed", "changed_count": 250_000, "unchanged_count": 3, "reached": 400_000,
                        "last": 400_000, "created_at": "2026-01-02T03:04:05.678Z",
                        "ended_at": "2026-01-02T03:04:09.876Z",
                    ]
                ],
                "next_cursor": nil,
            ])
    ]

    public struct Params: PageParams, Hashable {
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "The length of a page, and the cursor to continue from."
        public static let wireFields: WireFields<Self> = [
            .defaulted("limit", \.limit, "Highest number of operations in one answer.", .range(1...1000)),
            .optional("cursor", \.cursor, "next_cursor of the previous page.", .length(1...1024)),
        ]
    }

    public struct Result: PageRecord, Hashable {
        public var operations: [OperationRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [OperationRecord]> { \.operations }

        public static let summary = "One page of operations."
        public static let wireFields: WireFields<Self> = [
            .required("operations", \.operations, "The operations."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `operation.cancel`: stops a background operation.
public enum OperationCancel: RPCMethod {
    public typealias Params = OperationGet.Params
    public typealias Result = OperationGet.Result

    public static let name = "operation.cancel"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Stops a background operation after its present step; tasks that it has changed stay changed. One that has "
        + "ended is returned unchanged."
    public static let errors: [ErrorCode] = [.notFound, .storageUnavailable]
    public static let examples = [
        MethodExample(
            "stop it", params: ["id": 7],
            result: [
                "operation": [
                    "id": 7, "owner": 1000, "verb": "pause", "filter": ["all": true], "state": "cancelled",
                    "changed_count": 41_000, "unchanged_count": 0, "reached": 41_020, "last": 1_000_000,
                    "created_at": "2026-01-02T03:04:05.678Z",
                ]
            ])
    ]
}
