import StrictJSON
public import XferModel

/// `task.list`: tasks by filter, page by page.
public enum TaskList: RPCMethod {
    public static let name = "task.list"
    public static let isBulk = true
    public static let summary =
        "Tasks by id, newest first, page by page. A task that matches throughout appears exactly once."

    public static let examples = [
        MethodExample(
            "what waits or runs",
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
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var filter: TaskFilter?
        public var fields: TaskColumns?
        public var order = ListOrder.descending
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "Which tasks, and how many at once."
        public static let wireFields: WireFields<Self> = [
            .optional("filter", \.filter, "Which tasks; default all that the caller may see."),
            .optional("fields", \.fields, "Fields to give; default all but response_headers."),
            .defaulted("order", \.order, "By id: newest first (desc) or oldest first (asc)."),
            .defaulted("limit", \.limit, "Most tasks in one answer.", .range(1...1000)),
            .optional(
                "cursor", \.cursor, "next_cursor of the page before; filter and order must be the same.",
                .length(1...1024)),
        ]
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
            .nullable("next_cursor", \.nextCursor, "Where the next page begins; null after the last."),
            .optional(
                "unreadable", \.unreadable,
                "Tasks of this page that are left out because their rows are damaged; xferd --recover mends the database."
            ),
        ]
    }
}
