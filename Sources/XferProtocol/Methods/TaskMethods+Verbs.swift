public import StrictJSON
public import XferModel

/// The selection of tasks for verbs: ids, in one transaction, or a filter, in chunks.
public struct TaskSelection: WireInput, WireParams, Hashable {
    public var ids: [TaskID]?
    public var filter: TaskFilter?

    public init() {}
    public init(ids: [TaskID]) { self.ids = ids }
    public init(filter: TaskFilter) { self.filter = filter }

    public static let summary = "Which tasks: ids or a filter."
    public static let wireFields: WireFields<Self> = [
        .optional("ids", \.ids, "These tasks, in one transaction.", .count(1...TaskLimits.batchSize)),
        .optional(
            "filter", \.filter, "All tasks that match and exist at the call, step by step; not atomic."),
    ]

    public func validate() throws(WireError) {
        switch (ids, filter) {
        case (nil, nil): throw WireError(.missing, expected: "ids or filter")
        case (_?, _?): throw WireError(.conflictingFields, at: "filter", expected: "either ids or filter")
        default: return
        }
    }
}

/// The result of a verb for each of its tasks. A state that does not allow the verb is no error.
public enum SelectionResult: WireValue, Hashable {
    case ids(Listed)
    case filter(Counted)

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
        public static let summary = "What became of the tasks that were named."
        public static let wireFields: WireFields<Self> = [
            .required("changed", \.changed, "Tasks that changed."),
            .required("unchanged", \.unchanged, "Tasks whose state left nothing to do, or did not allow it."),
            .required("missing", \.missing, "Ids that do not exist or belong to others."),
            .optional("files", \.files, "Of task.remove with files: what became of them."),
        ]
    }

    /// A task that stayed as it was.
    public struct Unchanged: WireRecord, Hashable {
        public var id = TaskID(0)
        public var state = OpenEnum(TaskState.queued)
        public var reason: String?

        public init() {}

        public init(id: TaskID, state: TaskState, reason: String? = nil) {
            self.id = id
            self.state = OpenEnum(state)
            self.reason = reason
        }

        public static let schemaName = "SelectionUnchanged"
        public static let summary = "A task that stayed as it was."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."), .required("state", \.state, "The state it is in."),
            .optional(
                "reason", \.reason,
                "Why the state did not allow it, where that is not plain: not_resumable, a running request that must not be "
                    + "made twice cannot be paused; file_kept, its file could not be deleted (see files); source_deleted, the "
                    + "copy of what a cancelled task would send again is gone."),
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
        public static let summary = "How many of the tasks that matched changed."
        public static let wireFields: WireFields<Self> = [
            .required("changed_count", \.changedCount, "Tasks that changed."),
            .required("unchanged_count", \.unchangedCount, "Tasks that did not."),
            .optional("refused_count", \.refusedCount, "Staged tasks that task.commit could not publish now."),
            .optional("refused", \.refused, "The first 100 of them, with the reasons."),
            .optional("files", \.files, "Of task.remove with files: what became of them."),
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
            .required("reason", \.reason, "The data.reason of the error that task.commit of this task alone answers."),
            .required("message", \.message, "The refusal in English."),
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

        public static let summary = "What became of the files of tasks that were removed with them."
        public static let wireFields: WireFields<Self> = [
            .required("deleted", \.deleted, "Files that were deleted, or had been before."),
            .required("kept", \.kept, "Files that were not, at most 1,000 of them."),
            .required("kept_count", \.keptCount, "How many were not."),
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
            .required("path", \.path, "Where the file is."),
            .required("reason", \.reason, "Why it was not deleted."),
        ]
    }

    /// The files of `task.remove` with files.
    public var files: RemovedFiles? {
        switch self {
        case .ids(let listed): listed.files
        case .filter(let counted): counted.files
        }
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self =
            value["changed_count"] == nil
            ? .ids(try Listed(wire: value, mode: mode)) : .filter(try Counted(wire: value, mode: mode))
    }

    public var wire: JSONValue {
        switch self {
        case .ids(let listed): listed.wire
        case .filter(let counted): counted.wire
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let forms = [Listed.schema(in: &schemas), Counted.schema(in: &schemas)]
        return schemas.reference(to: "SelectionResult") { _ in ["oneOf": .array(forms)] }
    }
}

extension MethodExample {
    /// A verb on two tasks, one of which had ended.
    static let selection = [
        MethodExample(
            "two tasks", params: ["ids": [17, 18]],
            result: ["changed": [17], "unchanged": [["id": 18, "state": "completed"]], "missing": []]),
        MethodExample(
            "by filter", params: ["filter": ["group": "nightly"]],
            result: ["changed_count": 120, "unchanged_count": 3]),
    ]
}

/// `task.pause`: holds tasks back.
public enum TaskPause: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.pause"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Pauses tasks; what runs stops at its last committed byte. Pausing a paused task changes nothing."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = MethodExample.selection
}

/// `task.resume`: resumes paused tasks.
public enum TaskResume: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.resume"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Queues paused tasks again; waiting ones try now, unless they wait for their own conditions (schedule, dependency, lease)."
    public static let errors: [ErrorCode] = [.storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}

/// `task.cancel`: ends tasks.
public enum TaskCancel: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.cancel"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Cancels unfinished tasks and deletes their partial bytes; never a published file."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = MethodExample.selection
}

/// `task.retry`: tries failed tasks again.
public enum TaskRetry: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.retry"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Queues failed tasks again as the same tasks, with the bytes they kept and their tries counted anew; cancelled ones from "
        + "their first byte, by a filter only if it names their state; suspects, too."
    public static let errors: [ErrorCode] = [.storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}

/// `task.remove`: forgets ended tasks.
public enum TaskRemove: RPCMethod {
    public typealias Result = SelectionResult

    public static let name = "task.remove"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Forgets terminal tasks and deletes their kept partial bytes. With files it deletes the files that they published, too, "
        + "with their owners' rights; a file that is another one by now is kept and listed. Tasks whose files cannot be "
        + "deleted stay."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples =
        MethodExample.selection + [
            MethodExample(
                "with files", params: ["ids": [17], "files": true],
                result: [
                    "changed": [17], "unchanged": [], "missing": [],
                    "files": ["deleted": 1, "kept": [], "kept_count": 0],
                ])
        ]

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [TaskID]?
        public var filter: TaskFilter?
        public var files: Bool?

        public init() {}

        public init(_ selection: TaskSelection, files: Bool = false) {
            (ids, filter) = (selection.ids, selection.filter)
            self.files = files ? true : nil
        }

        public static let summary = "Which tasks: ids or a filter."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "These tasks, in one transaction.", .count(1...TaskLimits.batchSize)),
            .optional(
                "filter", \.filter, "All tasks that match and exist at the call, step by step; not atomic."),
            .optional("files", \.files, "Whether the files that they published are deleted; default false."),
        ]

        public func validate() throws(WireError) { try selection.validate() }

        public var selection: TaskSelection {
            var selection = TaskSelection()
            (selection.ids, selection.filter) = (ids, filter)
            return selection
        }
    }
}

/// `task.commit`: publishes what is staged.
public enum TaskCommit: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.commit"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Publishes staged downloads (finalize manual) under their final names. All ids are looked at before the first file "
        + "gets its name; one that cannot be published, because its name is taken, the disk is full or its bytes were "
        + "touched, stays staged, and the answer is a conflict whose reason is one of a failed task's. Committing a "
        + "completed task changes nothing."
    public static let errors: [ErrorCode] = [.conflict, .storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}

/// `task.move`: changes the order of starting.
public enum TaskMove: RPCMethod {
    public typealias Result = SelectionResult

    public static let name = "task.move"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Moves tasks among those of the same host, group, profile and priority; several keep the order of ids. "
        + "top also makes their host the next one."
    public static let errors: [ErrorCode] = [.notFound, .invalidState, .storageUnavailable]

    public static let examples = [
        MethodExample(
            "to the top", params: ["ids": [17], "to": "top"],
            result: ["changed": [17], "unchanged": [], "missing": []]),
        MethodExample(
            "behind another", params: ["ids": [17], "to": "after", "target": 12],
            result: ["changed": [17], "unchanged": [], "missing": []]),
    ]

    /// The new place.
    public enum Position: String, WireEnum {
        case top, bottom, before, after
    }

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [TaskID] = []
        public var to = Position.top
        public var target: TaskID?

        public init() {}

        public init(ids: [TaskID], to position: Position, target: TaskID? = nil) {
            self.ids = ids
            to = position
            self.target = target
        }

        public static let summary = "Which tasks, and where to."
        public static let wireFields: WireFields<Self> = [
            .required("ids", \.ids, "The tasks.", .count(1...TaskLimits.batchSize)),
            .required("to", \.to, "Where to."),
            .optional("target", \.target, "The task to stand before or after."),
        ]

        public func validate() throws(WireError) {
            let needsTarget = to == .before || to == .after
            if needsTarget, target == nil {
                throw WireError(.missing, at: "target", expected: "the task to move \(to.rawValue)")
            }
            if !needsTarget, target != nil {
                throw WireError(.conflictingFields, at: "target", expected: "no target with \(to.rawValue)")
            }
            if let target, ids.contains(target) {
                throw WireError(.conflictingFields, at: "target", expected: "a task that is not itself moved")
            }
        }
    }
}
