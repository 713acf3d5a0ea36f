import StrictJSON
public import XferModel

/// The methods of `task.*`, in the order of the document.
enum TaskMethods {
    static let all: [any RPCMethod.Type] = [
        TaskAdd.self, TaskGet.self, TaskList.self, TaskCount.self, TaskWait.self, TaskPause.self, TaskResume.self,
        TaskCancel.self,
        TaskRetry.self, TaskRemove.self, TaskUpdate.self, TaskUpdateMany.self, TaskMove.self, TaskSetSource.self,
        TaskCommit.self,
        TaskRead.self, TaskResult.self, TaskRecordDigest.self,
    ]
}

/// `task.get`: one task.
public enum TaskGet: RPCMethod {
    public static let name = "task.get"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let hasLongAnswer = true
    public static let summary = "One task with everything known about it."
    public static let errors: [ErrorCode] = [.notFound, .invalidState]

    public static let examples = [
        MethodExample(
            "its state and progress", params: ["id": 17, "fields": ["state", "phase", "progress"]],
            result: [
                "task": [
                    "id": 17, "state": "running", "phase": "transferring",
                    "progress": ["received": 1_048_576, "sent": 0, "total": 4_194_304, "rate": 524_288, "eta": 6],
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var fields: TaskColumns?
        public var secrets: Bool?

        public init() {}

        public init(id: TaskID, fields: TaskColumns? = nil) {
            self.id = id
            self.fields = fields
        }

        public static let summary = "The task."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .optional("fields", \.fields, "Fields to return; default all."),
            .optional(
                "secrets", \.secrets,
                "True to return url, urls and headers with their secrets: only to the task's owner, over the Unix socket. Logins "
                    + "stay masked."),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var task = TaskRecord()

        public init() {}
        public init(task: TaskRecord) { self.task = task }

        public static let summary = "One task."
        public static let wireFields: WireFields<Self> = [.required("task", \.task, "The task.")]
    }
}

/// `task.list`: tasks by filter, page by page.
public enum TaskList: RPCMethod {
    public static let name = "task.list"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Tasks by id, newest first, page by page. A task that matches throughout appears exactly once. With order queue, "
        + "a task that moves between pages may appear twice or not at all."

    public static let examples = [
        MethodExample(
            "waiting and running tasks",
            params: ["filter": ["state": ["waiting", "running"]], "fields": ["state", "wait"], "limit": 2],
            result: [
                "tasks": [
                    ["id": 21, "state": "running"],
                    [
                        "id": 19, "state": "waiting",
                        "wait": ["reason": "retry", "until": "2026-01-02T03:04:15.000Z"],
                    ],
                ],
                "next_cursor": "d:19",
            ]),
        MethodExample(
            "the next tasks to start", params: ["order": "queue", "fields": ["priority"], "limit": 2],
            result: [
                "tasks": [["id": 23, "priority": "high"], ["id": 20, "priority": "normal"]], "next_cursor": "q:20",
            ]),
    ]

    /// The order of the list.
    public enum Order: String, WireEnum {
        /// Ascending by id, the oldest first.
        case ascending = "asc"
        /// Descending by id, the newest first.
        case descending = "desc"
        /// Queued tasks alone, by priority, then lane by lane in the order of their turns, each in its own order.
        case queue
    }

    public struct Params: WireInput, WireParams, Hashable {
        public var filter: TaskFilter?
        public var fields: TaskColumns?
        public var order = Order.descending
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "The tasks, and the size of a page."
        public static let wireFields: WireFields<Self> = [
            .optional("filter", \.filter, "The tasks to list; default all that the caller may see."),
            .optional("fields", \.fields, "Fields to return; default all but response_headers."),
            .defaulted(
                "order", \.order,
                "By id: newest first (desc) or oldest first (asc). queue: queued tasks alone, by priority, then host by host "
                    + "(and group and profile) in the order in which the hosts get their turns, and for each host in the order of starting."
            ),
            .defaulted(
                "limit", \.limit,
                "Highest number of tasks in one answer. A page also ends at 1 MiB, or after 10,000 inspected tasks: it may have fewer tasks, "
                    + "even none, with a next_cursor.", .range(1...1000)),
            .optional(
                "cursor", \.cursor, "next_cursor of the previous page; filter and order must be the same.",
                .length(1...1024)),
        ]

        public func validate() throws(WireError) {
            guard order == .queue, let states = filter?.state?.values, states.contains(where: { $0 != .queued }) else {
                return
            }
            throw WireError(
                .conflictingFields, at: "filter.state",
                expected: "only queued, or no state, with the order queue")
        }
    }

    public struct Result: WireRecord, Hashable {
        public var tasks: [TaskRecord] = []
        public var nextCursor: String?
        public var unreadable: [TaskID]?

        public init() {}

        public init(tasks: [TaskRecord], nextCursor: String?, unreadable: [TaskID] = []) {
            self.tasks = tasks
            self.nextCursor = nextCursor
            self.unreadable = unreadable.isEmpty ? nil : unreadable
        }

        public static let summary = "One page of tasks."
        public static let wireFields: WireFields<Self> = [
            .required("tasks", \.tasks, "The tasks."),
            .nextCursor(\.nextCursor),
            .optional(
                "unreadable", \.unreadable,
                "Tasks of this page that are left out because their rows are damaged. task.cancel and task.remove remove them; "
                    + "xferd --recover repairs the database."
            ),
        ]
    }
}

/// `task.wait`: answers when tasks have ended.
public enum TaskWait: RPCMethod {
    public static let name = "task.wait"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isWaiting = true
    public static let summary =
        "Answers when each task (with any: one) is terminal or staged, in a state of until, or gone; or when the timeout has "
        + "passed. The open calls of a user may wait for 100,000 tasks together."
    public static let errors: [ErrorCode] = [.limitExceeded, .shuttingDown]

    public static let examples = [
        MethodExample(
            "until it has ended", params: ["ids": [17], "timeout": 60, "fields": ["state", "final_path"]],
            result: [
                "tasks": [["id": 17, "state": "completed", "final_path": "/home/ada/Downloads/README.txt"]],
                "timed_out": false,
            ]),
        MethodExample(
            "the unfinished tasks of a group after a minute, without records",
            params: ["filter": ["group": "isos"], "timeout": 60, "fields": []],
            result: ["tasks": [], "timed_out": true, "open": [19, 23]]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var ids: [TaskID]?
        public var filter: TaskFilter?
        public var any: Bool?
        public var until: OneOrMany<TaskState>?
        public var timeout: Double?
        public var fields: TaskColumns?

        public init() {}

        public init(ids: [TaskID], timeout: Double? = nil, fields: TaskColumns? = nil) {
            self.ids = ids
            self.timeout = timeout
            self.fields = fields
        }

        public init(filter: TaskFilter, timeout: Double? = nil, fields: TaskColumns? = nil) {
            self.filter = filter
            self.timeout = timeout
            self.fields = fields
        }

        public static let summary = "The tasks to wait for: ids or a filter."
        public static let wireFields: WireFields<Self> = [
            .optional("ids", \.ids, "The tasks.", .count(1...TaskLimits.batchSize)),
            .optional(
                "filter", \.filter,
                "The unfinished tasks that match at the call, 100,000 at most; tasks that are added later are not waited for."
            ),
            .optional("any", \.any, "True to answer when one task has ended; default: when all have."),
            .optional("until", \.until, "Further states that end the wait.", .count(1...8)),
            .optional(
                "timeout", \.timeout,
                "Longest time to wait, in seconds; default unlimited.", .number(0...31_536_000)),
            .optional(
                "fields", \.fields,
                "Fields to return; default all but response_headers. An empty list ([]) returns no tasks."
            ),
        ]

        public func validate() throws(WireError) {
            switch (ids, filter) {
            case (nil, nil): throw WireError(.missing, expected: "ids or filter")
            case (_?, _?): throw WireError(.conflictingFields, at: "filter", expected: "either ids or filter")
            default: return
            }
        }
    }

    public struct Result: WireRecord, Hashable {
        public var tasks: [TaskRecord] = []
        public var timedOut = false
        public var open: [TaskID]?
        public var openCount: Int?
        public var missing: [TaskID]?
        public var omitted: [TaskID]?

        public init() {}

        public init(tasks: [TaskRecord], timedOut: Bool) {
            self.tasks = tasks
            self.timedOut = timedOut
        }

        public static let summary = "The tasks as they are now."
        public static let wireFields: WireFields<Self> = [
            .required("tasks", \.tasks, "The tasks, in the order of ids; as many as fit in 1 MiB."),
            .required("timed_out", \.timedOut, "True if the timeout ended the wait."),
            .optional("open", \.open, "Tasks that have not ended, after a timeout or with any; 10,000 at most."),
            .optional(
                "open_count", \.openCount, "The number of tasks that have not ended, if open does not list all of them."
            ),
            .optional("missing", \.missing, "Ids that do not exist or belong to others."),
            .optional(
                "omitted", \.omitted,
                "Tasks that do not fit in the answer, 10,000 at most; task.list with filter.ids returns them."),
        ]
    }
}

/// `task.update`: changes an unfinished task.
public enum TaskUpdate: RPCMethod {
    public typealias Result = TaskGet.Result

    public static let name = "task.update"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let hasLongAnswer = true
    public static let summary =
        "Changes fields of an unfinished task; if one field is refused, nothing changes. "
        + "kind, method, url and client_key never change."
    public static let errors: [ErrorCode] = [
        .notFound, .invalidState, .rejectedByPolicy, .conflict, .storageUnavailable,
    ]

    public static let examples = [
        MethodExample(
            "higher priority, lower rate",
            params: ["id": 17, "changes": ["priority": "high", "max_recv_rate": 65_536]],
            result: ["task": ["id": 17, "state": "queued", "priority": "high", "max_recv_rate": 65_536]])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var changes = TaskChanges()

        public init() {}

        public init(id: TaskID, changes: TaskChanges) {
            self.id = id
            self.changes = changes
        }

        public static let summary = "The task, and the changes."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .required("changes", \.changes, "The fields to change."),
        ]
    }
}

/// `task.set_source`: another URL for a task whose own expired.
public enum TaskSetSource: RPCMethod {
    public static let name = "task.set_source"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let hasLongAnswer = true
    public static let summary =
        "Gives a download another URL for the same bytes, for instance a freshly signed one; not while it runs. Kept "
        + "bytes are continued only if the server shows that they are of the same version. A task that waits because of its "
        + "previous URL, or has failed, continues at once."
    public static let errors: [ErrorCode] = [.notFound, .invalidState, .rejectedByPolicy, .storageUnavailable]

    public static let examples = [
        MethodExample(
            "a newly signed URL", params: ["id": 17, "url": "https://files.example.org/big.iso?signature=Zm9v"],
            result: [
                "task": [
                    "id": 17, "state": "queued", "url": "https://files.example.org/big.iso?signature=***",
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var url = ""

        public init() {}

        public init(id: TaskID, url: String) {
            self.id = id
            self.url = url
        }

        public static let summary = "The task, and its new URL."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .required("url", \.url, "An absolute http or https URL.", .length(1...TaskLimits.urlLength)),
        ]
    }

    public typealias Result = TaskGet.Result
}
