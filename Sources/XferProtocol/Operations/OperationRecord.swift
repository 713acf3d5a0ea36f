public import StrictJSON
public import XferModel

/// A background operation.
public struct OperationRecord: WireRecord, Hashable {
    public var id = OperationID(0)
    public var owner = Owner(uid: 0)
    public var verb = OpenEnum(OperationVerb.pause)
    public var filter = TaskFilter()
    public var state = OpenEnum(OperationState.running)
    public var changedCount: Int64 = 0
    public var unchangedCount: Int64 = 0
    public var refusedCount: Int64?
    public var refused: [SelectionResult.Refusal]?
    public var files: SelectionResult.RemovedFiles?
    public var reached: TaskID?
    public var last: TaskID?
    public var error: String?
    public var createdAt = Timestamp(microseconds: 0)
    public var endedAt: Timestamp?

    public init() {}

    public init(_ operation: BulkOperation) {
        let (counts, report) = (operation.counts, operation.report)
        id = operation.id
        owner = operation.owner
        verb = OpenEnum(operation.verb)
        filter = operation.taskFilter ?? TaskFilter()
        state = OpenEnum(operation.state)
        changedCount = counts.changed
        unchangedCount = counts.unchanged
        if counts.refused > 0 {
            refusedCount = counts.refused
            refused = report.refusals.map {
                SelectionResult.Refusal(id: TaskID($0.id), reason: $0.reason, message: $0.message)
            }
        }
        if operation.deletesFiles {
            files = SelectionResult.RemovedFiles(
                deleted: Int(clamping: counts.filesDeleted),
                kept: report.kept.map {
                    SelectionResult.KeptFile(id: TaskID($0.id), path: $0.path, reason: $0.reason)
                }, keptCount: Int(clamping: counts.filesKept))
        }
        // Ids on the wire begin with 1.
        reached = operation.reached.rawValue > 0 ? operation.reached : nil
        last = operation.last.rawValue > 0 ? operation.last : nil
        error = operation.error
        createdAt = operation.createdAt
        endedAt = operation.endedAt
    }

    public static let summary = "A verb over the tasks of a filter that the service carries out in the background."
    public static let wireFields: WireFields<Self> = [
        .required("id", \.id, "Identifies the operation."),
        .required("owner", \.owner, "The uid of its caller."),
        .required("verb", \.verb, "The verb that is applied to each task."),
        .required("filter", \.filter, "The filter of the call."),
        .required(
            "state", \.state,
            "running: in progress, or waiting for an earlier operation of its owner; completed; failed; cancelled."),
        .required("changed_count", \.changedCount, "Tasks that changed so far."),
        .required("unchanged_count", \.unchangedCount, "Tasks that did not change."),
        .optional("refused_count", \.refusedCount, "Tasks for which the verb failed."),
        .optional("refused", \.refused, "The first 100 of them, with the reasons."),
        .optional(
            "files", \.files, "For a removal with files: the results for the files, with at most 100 that were kept."),
        .optional("reached", \.reached, "Tasks with ids up to this one are processed; absent before the first step."),
        .optional("last", \.last, "The newest task at the call. Later ones are not changed."),
        .optional("error", \.error, "Reason why it failed, in English."),
        .required("created_at", \.createdAt, "Time of the call."),
        .optional("ended_at", \.endedAt, "Time of the end; absent while it is running."),
    ]
}

extension BulkOperation {
    /// The filter of the call; nil if a newer program wrote it.
    public var taskFilter: TaskFilter? {
        guard let value = try? JSONValue(parsing: filter.utf8) else { return nil }
        return try? TaskFilter(wire: value, mode: .strict)
    }

    /// The changes of the call; nil if it has none, or a newer program wrote them.
    public var taskChanges: TaskChanges? {
        guard let changes, let value = try? JSONValue(parsing: changes.utf8) else { return nil }
        return try? TaskChanges(wire: value, mode: .strict)
    }
}

extension OperationID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "an operation's id, an integer") }
        guard WireID.range.contains(number) else { throw WireID.outOfRange("an operation's id") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "OperationID") { _ in
            [
                "description": "Identifies a background operation; never reused.", "type": "integer", "minimum": 1,
                "maximum": .integer(WireID.range.upperBound),
            ]
        }
    }
}
