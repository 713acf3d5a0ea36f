import StrictJSON
public import XferModel

/// `task.wait`: answers when tasks have come to an end.
public enum TaskWait: RPCMethod {
    public static let name = "task.wait"
    public static let summary =
        "Answers when each task is terminal or staged, or in a state of until; or when the timeout has passed."
    public static let errors: [ErrorCode] = [.notFound, .shuttingDown]

    public static let examples = [
        MethodExample(
            "until it has ended", params: ["ids": [17], "timeout": 60, "fields": ["state", "final_path"]],
            result: [
                "tasks": [["id": 17, "state": "completed", "final_path": "/home/ada/Downloads/README.txt"]],
                "timed_out": false,
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [TaskID] = []
        public var until: OneOrMany<TaskState>?
        public var timeout: Double?
        public var fields: TaskColumns?

        public init() {}

        public init(ids: [TaskID], timeout: Double? = nil, fields: TaskColumns? = nil) {
            self.ids = ids
            self.timeout = timeout
            self.fields = fields
        }

        public static let summary = "What to wait for."
        public static let wireFields: WireFields<Self> = [
            .required("ids", \.ids, "The tasks.", .count(1...TaskLimits.batchSize)),
            .optional("until", \.until, "States that end the waiting too.", .count(1...8)),
            .optional("timeout", \.timeout, "Most seconds to wait; default without end.", .number(0...31_536_000)),
            .optional("fields", \.fields, "Fields to give; default all but response_headers."),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var tasks: [TaskRecord] = []
        public var timedOut = false

        public init() {}

        public init(tasks: [TaskRecord], timedOut: Bool) {
            self.tasks = tasks
            self.timedOut = timedOut
        }

        public static let summary = "The tasks as they are now."
        public static let wireFields: WireFields<Self> = [
            .required("tasks", \.tasks, "The tasks, in the order of ids."),
            .required("timed_out", \.timedOut, "Whether the timeout ended the waiting."),
        ]
    }
}
