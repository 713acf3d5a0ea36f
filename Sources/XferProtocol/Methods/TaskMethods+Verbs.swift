import StrictJSON
public import XferModel

extension MethodExample {
    /// A verb on two tasks, one of which had ended.
    static let selection = [
        MethodExample(
            "two tasks", params: ["ids": [17, 18]],
            result: ["changed": [17], "unchanged": [["id": 18, "state": "completed"]], "missing": []]),
        MethodExample(
            "by filter", params: ["filter": ["group": "nightly"]],
            result: ["changed_count": 120, "unchanged_count": 3]),
        MethodExample(
            "in the background", params: ["filter": ["group": "nightly"], "background": true],
            result: ["operation": 7, "seq": 4711]),
    ]
}

/// `task.pause`: pauses tasks.
public enum TaskPause: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.pause"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Pauses tasks; running ones stop at their last committed byte. Pausing a paused task changes nothing."
    public static let errors: [ErrorCode] = [.limitExceeded, .storageUnavailable]
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
        "Queues paused tasks again; waiting ones start now, unless they wait for their own conditions (schedule, dependency, lease)."
    public static let errors: [ErrorCode] = [.limitExceeded, .storageUnavailable, .shuttingDown]
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
    public static let errors: [ErrorCode] = [.limitExceeded, .storageUnavailable]
    public static let examples = MethodExample.selection
}

/// `task.retry`: retries failed tasks.
public enum TaskRetry: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.retry"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Queues failed tasks again, with their kept bytes and a new count of attempts; cancelled ones start from "
        + "their first byte, and a filter selects them only if it has the state cancelled. Suspects are retried, too."
    public static let errors: [ErrorCode] = [.limitExceeded, .storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}

/// `task.remove`: removes ended tasks.
public enum TaskRemove: RPCMethod {
    public typealias Result = SelectionResult

    public static let name = "task.remove"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Removes terminal tasks and deletes their kept partial bytes. With files it deletes the files that they published, too, "
        + "with their owners' rights; a file that was replaced since then is kept and listed. Tasks whose files cannot be "
        + "deleted stay."
    public static let errors: [ErrorCode] = [.limitExceeded, .storageUnavailable]
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
        public var background: Bool?

        public init() {}

        public init(_ selection: TaskSelection, files: Bool = false) {
            (ids, filter, background) = (selection.ids, selection.filter, selection.background)
            self.files = files ? true : nil
        }

        public static let summary = "The tasks: ids or a filter."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "These tasks, in one transaction.", .count(1...TaskLimits.batchSize)),
            .optional(
                "filter", \.filter, "All tasks that match and exist at the call, step by step; not atomic."),
            .optional("files", \.files, "True to delete the files that they published; default false."),
            .optional("background", \.background, TaskSelection.backgroundText),
        ]

        public func validate() throws(WireError) { try selection.validate() }

        public var selection: TaskSelection {
            var selection = TaskSelection()
            (selection.ids, selection.filter, selection.background) = (ids, filter, background)
            return selection
        }
    }
}

/// `task.commit`: publishes staged files.
public enum TaskCommit: RPCMethod {
    public typealias Params = TaskSelection
    public typealias Result = SelectionResult

    public static let name = "task.commit"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Publishes staged downloads (finalize manual) under their final names. All ids are checked before the first file "
        + "gets its name; a task that cannot be published, because its name is taken, the disk is full or its bytes were "
        + "changed, stays staged, and the answer is a conflict with one of the reasons of failed tasks. Committing a "
        + "completed task changes nothing."
    public static let errors: [ErrorCode] = [.conflict, .limitExceeded, .storageUnavailable, .shuttingDown]
    public static let examples = MethodExample.selection
}

/// `task.move`: changes the order of starting.
public enum TaskMove: RPCMethod {
    public typealias Result = SelectionResult

    public static let name = "task.move"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Moves tasks within the order of their host, group, profile and priority; several keep the order of ids. "
        + "top also makes their host the next one."
    public static let errors: [ErrorCode] = [.notFound, .invalidState, .storageUnavailable]

    public static let examples = [
        MethodExample(
            "to the top", params: ["ids": [17], "to": "top"],
            result: ["changed": [17], "unchanged": [], "missing": []]),
        MethodExample(
            "after another", params: ["ids": [17], "to": "after", "target": 12],
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

        public static let summary = "The tasks, and their new place in the order of the queue."
        public static let wireFields: WireFields<Self> = [
            .required("ids", \.ids, "The tasks.", .count(1...TaskLimits.batchSize)),
            .required("to", \.to, "The new place."),
            .optional("target", \.target, "The task to move before or after."),
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
