import StrictJSON
public import XferModel

/// What an error answer says beyond its code and message.
public struct ErrorData: WireRecord, Hashable {
    public var reason = ""
    public var path: String?
    public var expected: String?
    public var limit: Int64?
    public var taskID: TaskID?
    public var state: OpenEnum<TaskState>?

    public init() {}

    public init(
        reason: String, path: String? = nil, expected: String? = nil, limit: Int64? = nil, taskID: TaskID? = nil,
        state: TaskState? = nil
    ) {
        self.reason = reason
        self.path = path
        self.expected = expected
        self.limit = limit
        self.taskID = taskID
        self.state = state.map { OpenEnum($0) }
    }

    public static let summary = "What is behind an error answer."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "A lower-case word that programs can tell apart.", example: "wrong_type"),
        .optional("path", \.path, "The field at fault, from the root of params.", example: "tasks[3].checksum"),
        .optional("expected", \.expected, "What would have been right.", example: "a string"),
        .optional("limit", \.limit, "The limit that was reached."),
        .optional("task_id", \.taskID, "The task it is about."),
        .optional("state", \.state, "The state that task is in."),
    ]
}
