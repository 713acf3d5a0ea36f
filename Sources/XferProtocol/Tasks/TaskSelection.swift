public import StrictJSON
public import XferModel

/// The selection of tasks for verbs: ids, in one transaction, or a filter, in chunks.
public struct TaskSelection: WireInput, WireParams, Hashable {
    public var ids: [TaskID]?
    public var filter: TaskFilter?
    public var background: Bool?

    public init() {}
    public init(ids: [TaskID]) { self.ids = ids }

    public init(filter: TaskFilter, background: Bool = false) {
        self.filter = filter
        self.background = background ? true : nil
    }

    public static let summary = "The tasks: ids or a filter."
    public static let wireFields: WireFields<Self> = [
        .optional("ids", \.ids, "These tasks, in one transaction.", .count(1...TaskLimits.batchSize)),
        .optional(
            "filter", \.filter, "All tasks that match and exist at the call, step by step; not atomic."),
        .optional("background", \.background, backgroundText),
    ]

    static let backgroundText =
        "With a filter: answers at once with the id of an operation that continues in the background, also after a crash "
        + "(operation.get, operation.ended); default false."

    public func validate() throws(WireError) {
        switch (ids, filter) {
        case (nil, nil): throw WireError(.missing, expected: "ids or filter")
        case (_?, _?): throw WireError(.conflictingFields, at: "filter", expected: "either ids or filter")
        case (_?, nil) where background == true:
            throw WireError(.conflictingFields, at: "background", expected: "a filter: ids are changed at once")
        default: return
        }
    }
}

/// The result of a verb for each of its tasks. A state that does not allow the verb is no error.
public enum SelectionResult: WireValue, Hashable {
    case ids(Listed)
    case filter(Counted)
    case operation(Begun)

    /// The answer for ids.
    public struct Listed: WireRecord, Hashable {
        public var changed: [TaskID] = []
        public var unchanged: [Unchanged] = []
        public var missing: [TaskID] = []
        public var files: RemovedFiles?

        public init() {}

        public init(changed: [TaskID], unchanged: [Unchanged], missing: [TaskID]) {
            self.changed = changed
            self.unchanged = unchanged
            self.missing = missing
        }

        public static let schemaName = "SelectionListed"
        public static let summary = "Result for each of the listed tasks."
        public static let wireFields: WireFields<Self> = [
            .required("changed", \.changed, "Tasks that changed."),
            .required("unchanged", \.unchanged, "Tasks whose state needed no change, or did not allow it."),
            .required("missing", \.missing, "Ids that do not exist or belong to others."),
            .optional("files", \.files, "For task.remove with files: the result for the files."),
        ]
    }

    /// A task that did not change.
    public struct Unchanged: WireRecord, Hashable {
        public var id = TaskID(0)
        public var state = OpenEnum(TaskState.queued)
        public var reason: String?

        public init() {}

        public init(id: TaskID, state: TaskState, reason: Reason? = nil) {
            self.id = id
            self.state = OpenEnum(state)
            self.reason = reason?.rawValue
        }

        /// The shown reason why a state did not allow a verb.
        public enum Reason: String, Sendable {
            /// The task runs, and its request must not be made twice: it could not continue after a pause.
            case notResumable = "not_resumable"
            /// Its file could not be deleted, although that was requested.
            case fileKept = "file_kept"
            /// The copy of its content was deleted when it was cancelled.
            case sourceDeleted = "source_deleted"
            /// Its row in the database is damaged: it can only be cancelled, then removed.
            case damaged
        }

        public static let schemaName = "SelectionUnchanged"
        public static let summary = "A task that did not change."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."), .required("state", \.state, "State of the task."),
            .optional(
                "reason", \.reason,
                "Reason, where the state alone does not explain it. not_resumable: a running request that must not be "
                    + "repeated cannot be paused. file_kept: its file could not be deleted (see files). source_deleted: "
                    + "the copy of the cancelled task's content was deleted, so it cannot be sent again. damaged: its row in the "
                    + "database is damaged, so it can only be cancelled, then removed."),
        ]
    }

    /// The answer for a filter.
    public struct Counted: WireRecord, Hashable {
        public var changedCount = 0
        public var unchangedCount = 0
        public var refusedCount: Int?
        public var refused: [Refusal]?
        public var files: RemovedFiles?

        public init() {}

        public init(changedCount: Int, unchangedCount: Int) {
            self.changedCount = changedCount
            self.unchangedCount = unchangedCount
        }

        public static let schemaName = "SelectionCounted"
        public static let summary = "Number of matching tasks that changed."
        public static let wireFields: WireFields<Self> = [
            .required("changed_count", \.changedCount, "Tasks that changed."),
            .required("unchanged_count", \.unchangedCount, "Tasks that did not change."),
            .optional(
                "refused_count", \.refusedCount,
                "Tasks for which the verb failed: not published by task.commit, or not changed by task.update_many."),
            .optional("refused", \.refused, "The first 100 of them, with the reasons."),
            .optional("files", \.files, "For task.remove with files: the result for the files."),
        ]
    }

    /// The answer for a filter with `background`.
    public struct Begun: WireRecord, Hashable {
        public var operation = OperationID(0)
        public var seq: Int64 = 0

        public init() {}

        public init(operation: OperationID, seq: Int64) {
            self.operation = operation
            self.seq = seq
        }

        public static let schemaName = "SelectionBegun"
        public static let summary = "The operation that applies the verb."
        public static let wireFields: WireFields<Self> = [
            .required("operation", \.operation, "The operation, for operation.get."),
            .required("seq", \.seq, "Its events have higher sequence numbers.", .sequenceNumber),
        ]
    }

    /// A task that a filter selected and for which the verb failed.
    public struct Refusal: WireRecord, Hashable {
        public var id = TaskID(0)
        public var reason = ""
        public var message = ""

        public init() {}

        public init(id: TaskID, reason: String, message: String) {
            self.id = id
            self.reason = reason
            self.message = message
        }

        public static let schemaName = "SelectionRefusal"
        public static let summary = "A task for which the verb failed."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .required("reason", \.reason, "The data.reason of the error that a call for this task alone would return."),
            .required("message", \.message, "Description of the refusal, in English."),
        ]
    }

    /// The result of removing the files of tasks that were removed with them.
    public struct RemovedFiles: WireRecord, Hashable {
        public var deleted = 0
        public var kept: [KeptFile] = []
        public var keptCount = 0

        public init() {}

        public init(deleted: Int, kept: [KeptFile], keptCount: Int) {
            (self.deleted, self.kept, self.keptCount) = (deleted, kept, keptCount)
        }

        public static let summary = "Result for the files of tasks that were removed with them."
        public static let wireFields: WireFields<Self> = [
            .required("deleted", \.deleted, "Number of files that were deleted, now or before."),
            .required("kept", \.kept, "Files that were not deleted, at most 1,000 of them."),
            .required("kept_count", \.keptCount, "Number of files that were not deleted."),
        ]
    }

    /// A file that was not deleted.
    public struct KeptFile: WireRecord, Hashable {
        public var id = TaskID(0)
        public var path = ""
        public var reason = ""

        public init() {}

        public init(id: TaskID, path: String, reason: String) {
            (self.id, self.path, self.reason) = (id, path, reason)
        }

        public static let summary = "A file that was not deleted."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task that published a file of this name."),
            .required("path", \.path, "Path of the file."),
            .required("reason", \.reason, "Reason why it was not deleted."),
        ]
    }

    /// The files of `task.remove` with files.
    public var files: RemovedFiles? {
        switch self {
        case .ids(let listed): listed.files
        case .filter(let counted): counted.files
        case .operation: nil
        }
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        if value["operation"] != nil {
            self = .operation(try Begun(wire: value, mode: mode))
        } else if value["changed_count"] != nil {
            self = .filter(try Counted(wire: value, mode: mode))
        } else {
            self = .ids(try Listed(wire: value, mode: mode))
        }
    }

    public var wire: JSONValue {
        switch self {
        case .ids(let listed): listed.wire
        case .filter(let counted): counted.wire
        case .operation(let begun): begun.wire
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let forms = [Listed.schema(in: &schemas), Counted.schema(in: &schemas), Begun.schema(in: &schemas)]
        return schemas.reference(to: "SelectionResult") { _ in ["oneOf": .array(forms)] }
    }
}
