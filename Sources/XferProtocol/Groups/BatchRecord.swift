public import StrictJSON
public import XferModel

/// A batch on the wire.
public struct BatchRecord: WireRecord, Hashable {
    public var id = BatchID(0)
    public var owner = Owner(uid: 0)
    public var group = ""
    public var total: Int64 = 0
    public var finished: Int64 = 0
    /// The number of failed members; nil from a daemon before 1.0.0.
    public var failed: Int64?
    public var skipped: Int64 = 0
    public var counts = StateCounts()
    public var createdAt = Timestamp(microseconds: 0)
    public var completedAt: Timestamp?

    public init() {}

    public init(_ batch: Batch) {
        id = batch.id
        owner = batch.owner
        group = batch.group
        total = batch.total
        finished = batch.finished
        failed = batch.skipped
        skipped = batch.skipped
        counts = StateCounts(batch.counts)
        createdAt = batch.createdAt
        completedAt = batch.completedAt
    }

    public static let summary = "A batch: tasks that were added together and are counted together."
    public static let wireFields: WireFields<Self> = [
        .required("id", \.id, "Identifies the batch."),
        .required("owner", \.owner, "The uid of the process that added it."),
        .required("group", \.group, "The group of its members, for group.* and filters."),
        .required("total", \.total, "Number of members when the batch was added."),
        .required(
            "finished", \.finished,
            "Number of members that completed, failed, or were cancelled or superseded, including removed ones."),
        .optional("failed", \.failed, "Number of members that failed."),
        .required("skipped", \.skipped, "Same value as failed; the field's name before 1.0.0."),
        .required("counts", \.counts, "Number of members by state, without removed ones."),
        .required("created_at", \.createdAt, "Time at which the batch was added."),
        .nullable(
            "completed_at", \.completedAt,
            "Time at which the last member ended for the first time; null before."),
    ]
}

/// An entry of a batch that was refused.
public struct BatchRefusal: WireRecord, Hashable {
    public var index = 0
    public var code: Int64 = 0
    public var message = ""
    public var data: ErrorData?

    public init() {}

    public init(index: Int, _ failure: RPCFailure) {
        self.index = index
        code = failure.code
        message = failure.message
        data = failure.data
    }

    public static let summary = "An entry that did not become a member, with the reason."
    public static let wireFields: WireFields<Self> = [
        .required("index", \.index, "Its place in tasks, from 0."),
        .required("code", \.code, "The error code with which task.add would have answered."),
        .required("message", \.message, "One sentence for people, with the field at fault."),
        .optional("data", \.data, "Details of the error."),
    ]
}

extension BatchID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "a batch's id, an integer") }
        guard WireID.range.contains(number) else { throw WireID.outOfRange("a batch's id") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "BatchID") { _ in
            [
                "description": "Identifies a batch; never reused.", "type": "integer", "minimum": 1,
                "maximum": .integer(WireID.range.upperBound),
            ]
        }
    }
}

/// One entry of `batch.add` as the client wrote it. Each entry is read separately, so that an invalid one does not fail
/// the others.
public struct BatchEntry: WireValue, Hashable {
    public var value: JSONValue

    public init(_ url: String) { value = .string(url) }
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) { self.value = value }

    public var wire: JSONValue { value }

    /// Returns the task that the entry describes. `options` are the fields for all entries; the entry's own fields take
    /// precedence.
    public func task(_ options: JSONObject) throws(WireError) -> NewTask {
        var fields = options
        switch value {
        case .string(let url): fields["url"] = .string(url)
        case .object(let own):
            for (key, value) in own.members { fields[key] = value }
        default: throw .wrongType(expected: "a URL, or an object with a task's fields")
        }
        for name in Self.ownedByBatch where fields[name] != nil {
            throw WireError(.conflictingFields, at: name, expected: "no \(name) within a batch: it has its own")
        }
        return try NewTask(strict: .object(fields))
    }

    /// The fields that an entry may not have, because the batch sets them for all its entries.
    static let ownedByBatch = ["group", "client_key"]

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "BatchEntry") { _ in
            [
                "description": .string(
                    "A URL, or an object with a task's fields as task.add takes them, except group and client_key. "
                        + "Anything else is reported as an invalid entry.")
            ]
        }
    }
}
