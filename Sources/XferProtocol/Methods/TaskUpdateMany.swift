import StrictJSON

/// `task.update_many`: the same changes for many tasks.
public enum TaskUpdateMany: RPCMethod {
    public typealias Result = SelectionResult.Counted

    public static let name = "task.update_many"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Changes fields of every unfinished task that matches and exists at the call, each as task.update does; not "
        + "atomic. Ended tasks are unchanged; those that cannot be changed are refused with the reason."
    public static let errors: [ErrorCode] = [.storageUnavailable, .shuttingDown]

    public static let examples = [
        MethodExample(
            "a slower group", params: ["filter": ["group": "nightly"], "changes": ["max_recv_rate": 65_536]],
            result: ["changed_count": 120, "unchanged_count": 3])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var filter = TaskFilter()
        public var changes = TaskChanges()

        public init() {}

        public init(filter: TaskFilter, changes: TaskChanges) {
            self.filter = filter
            self.changes = changes
        }

        public static let summary = "The tasks, and the changes."
        public static let wireFields: WireFields<Self> = [
            .required("filter", \.filter, "The tasks."),
            .required("changes", \.changes, "The fields to change."),
        ]
    }
}
