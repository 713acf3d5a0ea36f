public import StrictJSON
public import XferModel

/// An entry of the failed-URL list.
public struct FailedURLRecord: WireRecord, Hashable {
    public var id = FailedURLID(0)
    public var url = ""
    public var method = ""
    public var owner = Owner(uid: 0)
    public var taskID = TaskID(0)
    public var error = FailureRecord()
    public var failedAt = Timestamp(microseconds: 0)
    public var expiresAt = Timestamp(microseconds: 0)

    public init() {}

    /// - Parameter timeToLive: seconds for which it counts.
    public init(_ entry: FailedURL, timeToLive: Int64) {
        id = entry.id
        url = entry.url
        method = entry.method.rawValue
        owner = entry.owner
        taskID = entry.taskID
        error = FailureRecord(entry.error)
        failedAt = entry.failedAt
        expiresAt = entry.failedAt.advanced(by: .seconds(timeToLive))
    }

    public static let summary = "A URL that failed permanently and is refused without a request for a while."
    public static let wireFields: WireFields<Self> = [
        .required("id", \.id, "Identifies the entry."),
        .required("url", \.url, "The URL; secrets in it are ***."),
        .required("method", \.method, "The request's method."),
        .required("owner", \.owner, "The uid of the failed task's owner."),
        .required("task_id", \.taskID, "The task that failed; it may have been removed since."),
        .required("error", \.error, "Error with which the task failed."),
        .required("failed_at", \.failedAt, "Time of the failure."),
        .required(
            "expires_at", \.expiresAt,
            "Time from which it may be requested again, unless the entry is removed or the URL succeeds earlier."),
    ]
}

extension FailedURLID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "an entry's id, an integer") }
        guard WireID.range.contains(number) else { throw WireID.outOfRange("an entry's id") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "FailedURLID") { _ in
            [
                "description":
                    "Identifies an entry of the failed-URL list; never reused.", "type": "integer", "minimum": 1,
                "maximum": .integer(WireID.range.upperBound),
            ]
        }
    }
}
