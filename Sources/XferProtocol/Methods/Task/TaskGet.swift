import StrictJSON
public import XferModel

/// `task.get`: one task.
public enum TaskGet: RPCMethod {
    public static let name = "task.get"
    public static let summary = "One task with everything known about it."
    public static let errors: [ErrorCode] = [.notFound]

    public static let examples = [
        MethodExample(
            "its state and progress", params: ["id": 17, "fields": ["state", "phase", "progress"]],
            result: [
                "task": [
                    "id": 17, "state": "running", "phase": "transferring",
                    "progress": ["received": 1_048_576, "sent": 0, "total": 4_194_304, "rate": 524_288, "eta": 6],
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var fields: TaskColumns?

        public init() {}

        public init(id: TaskID, fields: TaskColumns? = nil) {
            self.id = id
            self.fields = fields
        }

        public static let summary = "Which task."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .optional("fields", \.fields, "Fields to give; default all."),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var task = TaskRecord()

        public init() {}
        public init(task: TaskRecord) { self.task = task }

        public static let summary = "One task."
        public static let wireFields: WireFields<Self> = [.required("task", \.task, "The task.")]
    }
}
