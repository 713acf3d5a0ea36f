public import StrictJSON
public import XferModel

/// An error answer (JSON-RPC 2.0 §5.1).
public struct RPCFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A number rather than `ErrorCode`: a newer daemon may have others.
    public var code: Int64
    /// One sentence for people, with the field at fault if there is one; it never contains secrets.
    public var message: String
    public var data: ErrorData?

    public init(_ code: ErrorCode, _ message: String, data: ErrorData? = nil) {
        self.code = code.rawValue
        self.message = message
        self.data = data
    }

    /// The answer to params that could not be read: −32602 with reason, path and a description of valid values.
    public init(_ error: WireError) {
        self.init(
            .invalidParams, error.description,
            data: ErrorData(
                reason: error.reason.rawValue, path: error.path.isEmpty ? nil : error.path, expected: error.expected))
    }

    /// The known code; nil for numbers that this reader does not know.
    public var knownCode: ErrorCode? { ErrorCode(rawValue: code) }
    public var description: String { message }
}

extension RPCFailure {
    /// An id that does not exist or belongs to another owner.
    public static func noSuchTask(_ id: TaskID, path: String = "id") -> RPCFailure {
        RPCFailure(
            .notFound, "there is no task \(id)", data: ErrorData(reason: "not_found", path: path, taskID: id))
    }
}

extension RPCFailure {
    /// A position in the log of events that it does not have: that of another database, or of one that was restored.
    public static func beyondTheLog(newest: Int64) -> RPCFailure {
        RPCFailure(
            .invalidParams, "since: expected the number of an existing event; the newest is \(newest)",
            data: ErrorData(
                reason: "beyond_the_log", path: "since", expected: "at most \(newest)", limit: newest))
    }
}

extension RPCFailure: WireValue {
    /// Reads the `error` member of an answer. `data` of another form is ignored.
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard let code = value["code"]?.integerValue else { throw .wrongType(expected: "an integer").under("code") }
        guard let message = value["message"]?.stringValue else {
            throw .wrongType(expected: "a string").under("message")
        }
        self.code = code
        self.message = message
        data = value["data"].flatMap { try? ErrorData(wire: $0, mode: .lenient) }
    }

    public var wire: JSONValue {
        var object: JSONObject = ["code": .integer(code), "message": .string(message)]
        if let data { object.append(newKey: "data", data.wire) }
        return .object(object)
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "Error") { schemas in
            [
                "description": "An error answer (JSON-RPC 2.0).", "type": "object",
                "properties": [
                    "code": Int32.schema(in: &schemas), "message": ["type": "string"],
                    "data": ErrorData.schema(in: &schemas),
                ],
                "required": ["code", "message"],
            ]
        }
    }
}

/// The data of an error answer beyond its code and message.
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

    public static let summary = "Details of an error answer."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "Cause as a lower-case identifier for programs.", example: "wrong_type"),
        .optional("path", \.path, "The field at fault, from the root of params.", example: "tasks[3].checksum"),
        .optional("expected", \.expected, "Description of valid values.", example: "a string"),
        .optional("limit", \.limit, "The limit that was reached."),
        .optional("task_id", \.taskID, "The task concerned."),
        .optional("state", \.state, "State of that task."),
    ]
}
