import StrictJSON
public import XferModel

/// `task.update`: changes an unfinished task.
public enum TaskUpdate: RPCMethod {
    public typealias Result = TaskGet.Result

    public static let name = "task.update"
    public static let summary =
        "Changes fields of an unfinished task; one refused field refuses the call. "
        + "kind, method, url and client_key never change."
    public static let errors: [ErrorCode] = [
        .notFound, .invalidState, .rejectedByPolicy, .conflict, .storageUnavailable,
    ]

    public static let examples = [
        MethodExample(
            "sooner, and slower", params: ["id": 17, "changes": ["priority": "high", "max_recv_rate": 65_536]],
            result: ["task": ["id": 17, "state": "queued", "priority": "high", "max_recv_rate": 65_536]])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var changes = TaskChanges()

        public init() {}

        public init(id: TaskID, changes: TaskChanges) {
            self.id = id
            self.changes = changes
        }

        public static let summary = "Which task, and what to change."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .required("changes", \.changes, "The fields to change."),
        ]
    }
}
