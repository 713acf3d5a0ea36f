public import StrictJSON
public import XferModel

/// `task.add`: one task, or up to 10,000 in one transaction.
public enum TaskAdd: RPCMethod {
    public static let name = "task.add"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.add
    public static let isBrief = true
    public static let summary =
        "Adds one task (its fields are the parameters), or up to 10,000 in one transaction (tasks). "
        + "When it returns, they are durable."
    public static let errors: [ErrorCode] = [
        .rejectedByPolicy, .conflict, .limitExceeded, .storageUnavailable, .shuttingDown,
    ]

    public static let examples = [
        MethodExample(
            "one task",
            params: ["url": "https://deb.debian.org/debian/README", "output": "README.txt", "label": "readme"],
            result: [
                "task": [
                    "id": 17, "owner": 1000, "state": "queued", "url": "https://deb.debian.org/debian/README",
                    "output": "README.txt", "label": "readme", "created_at": "2026-01-02T03:04:05.678Z",
                ]
            ]),
        MethodExample(
            "two tasks, the second of which existed already",
            params: [
                "tasks": [
                    ["url": "https://example.org/a", "client_key": "job-a"],
                    ["url": "https://example.org/b", "client_key": "job-b"],
                ]
            ],
            result: ["ids": [18, 12], "existing": [1]]),
    ]

    public enum Params: WireParams, Hashable {
        case one(NewTask)
        case many([NewTask])
    }

    public enum Result: Hashable, Sendable {
        case one(One)
        case many(Many)
    }

    static let seqSummary =
        "The events of the added tasks have greater numbers: events.subscribe with this as since delivers all of them."

    /// The answer for one task.
    public struct One: WireRecord, Hashable {
        public var task = TaskRecord()
        public var existing: Bool?
        public var seq: Int64?

        public init() {}

        public init(task: TaskRecord, existing: Bool) {
            self.task = task
            self.existing = existing ? true : nil
        }

        public static let summary = "The new task, or the existing one."
        public static let wireFields: WireFields<Self> = [
            .required("task", \.task, "The task."),
            .optional("existing", \.existing, "True when client_key found a task with the same request."),
            .optional("seq", \.seq, TaskAdd.seqSummary),
        ]
    }

    /// The answer for several tasks.
    public struct Many: WireRecord, Hashable {
        public var ids: [TaskID] = []
        public var existing: [Int] = []
        public var seq: Int64?

        public init() {}

        public init(ids: [TaskID], existing: [Int]) {
            self.ids = ids
            self.existing = existing
        }

        public static let summary = "The new tasks, and the existing ones."
        public static let wireFields: WireFields<Self> = [
            .required("ids", \.ids, "Their ids, in the order of tasks."),
            .required("existing", \.existing, "Indices of the existing tasks that a client_key found."),
            .optional("seq", \.seq, TaskAdd.seqSummary),
        ]
    }
}

extension TaskAdd.Params {
    /// The form with several tasks.
    struct Batch: WireInput {
        var tasks: [NewTask] = []

        static let schemaName = "TaskAddBatch"
        static let summary = "Several tasks, added in one transaction."
        static let wireFields: WireFields<Self> = [
            .required(
                "tasks", \.tasks, "Up to 10,000 tasks, added in one transaction: all or none.",
                .count(1...TaskLimits.batchSize))
        ]
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        if value["tasks"] == nil {
            self = .one(try NewTask(wire: value, mode: mode))
        } else {
            self = .many(try Batch(wire: value, mode: mode).tasks)
        }
    }

    public var wire: JSONValue {
        switch self {
        case .one(let task): task.wire
        case .many(let tasks): ["tasks": tasks.wire]
        }
    }

    public func write(to output: inout [UInt8]) {
        switch self {
        case .one(let task): task.write(to: &output)
        case .many(let tasks): Batch(tasks: tasks).write(to: &output)
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let forms = [NewTask.schema(in: &schemas), Batch.schema(in: &schemas)]
        return schemas.reference(to: "TaskAddParams") { _ in ["oneOf": .array(forms)] }
    }

    /// The parameters of both forms. Only the schema states which parameters can be combined.
    public static func parameters(in schemas: inout WireSchemas) -> [ParameterDescription] {
        var parameters: [ParameterDescription] = []
        for field in NewTask.wireFields {
            let schema = field.schema(in: &schemas)
            parameters.append(
                ParameterDescription(
                    name: field.name, documentation: field.documentation, isRequired: false, schema: schema))
        }
        for field in Batch.wireFields {
            let schema = field.schema(in: &schemas)
            parameters.append(
                ParameterDescription(
                    name: field.name, documentation: "Instead of the other parameters: " + field.documentation,
                    isRequired: false, schema: schema))
        }
        return parameters
    }
}

extension TaskAdd.Result: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self =
            value["ids"] == nil
            ? .one(try TaskAdd.One(wire: value, mode: mode)) : .many(try TaskAdd.Many(wire: value, mode: mode))
    }

    public var wire: JSONValue {
        switch self {
        case .one(let one): one.wire
        case .many(let many): many.wire
        }
    }

    public func write(to output: inout [UInt8]) {
        switch self {
        case .one(let one): one.write(to: &output)
        case .many(let many): many.write(to: &output)
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let forms = [TaskAdd.One.schema(in: &schemas), TaskAdd.Many.schema(in: &schemas)]
        return schemas.reference(to: "TaskAddResult") { _ in ["oneOf": .array(forms)] }
    }
}
