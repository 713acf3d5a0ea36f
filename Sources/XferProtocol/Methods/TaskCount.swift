import StrictJSON
public import XferModel

/// `task.count`: the number of tasks by state.
public enum TaskCount: RPCMethod {
    public static let name = "task.count"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Number of tasks that match a filter, by state. They are counted in steps: a task that changes meanwhile counts in "
        + "one of its states."

    public static let examples = [
        MethodExample(
            "the tasks of a host", params: ["filter": ["host": "example.org"]],
            result: [
                "counts": [
                    "queued": 120, "waiting": 2, "running": 6, "paused": 1, "staged": 0, "completed": 871, "failed": 3,
                    "cancelled": 0,
                ],
                "total": 1003,
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var filter: TaskFilter?

        public init() {}
        public init(filter: TaskFilter) { self.filter = filter }

        public static let summary = "The tasks."
        public static let wireFields: WireFields<Self> = [
            .optional("filter", \.filter, "The tasks to count; default all that the caller may see.")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var counts = StateCounts()
        public var total: Int64 = 0

        public init() {}

        public init(counts: [TaskState: Int64]) {
            self.counts = StateCounts(counts)
            total = counts.values.saturatedSum
        }

        public static let summary = "The number of tasks."
        public static let wireFields: WireFields<Self> = [
            .required("counts", \.counts, "Tasks by state."), .required("total", \.total, "Number of all these tasks."),
        ]
    }
}
