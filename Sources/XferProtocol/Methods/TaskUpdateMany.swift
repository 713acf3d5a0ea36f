public import StrictJSON

/// `task.update_many`: the same changes for many tasks.
public enum TaskUpdateMany: RPCMethod {
    public static let name = "task.update_many"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.own
    public static let summary =
        "Changes fields of every unfinished task that matches and exists at the call, each as task.update does; not "
        + "atomic. Ended tasks are unchanged; those that cannot be changed are refused with the reason."
    public static let errors: [ErrorCode] = [.storageUnavailable, .shuttingDown, .limitExceeded]

    public static let examples = [
        MethodExample(
            "a slower group", params: ["filter": ["group": "nightly"], "changes": ["max_recv_rate": 65_536]],
            result: ["changed_count": 120, "unchanged_count": 3]),
        MethodExample(
            "in the background",
            params: ["filter": ["group": "nightly"], "changes": ["priority": "low"], "background": true],
            result: ["operation": 7, "seq": 812]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var filter = TaskFilter()
        public var changes = TaskChanges()
        public var background: Bool?

        public init() {}

        public init(filter: TaskFilter, changes: TaskChanges, background: Bool = false) {
            self.filter = filter
            self.changes = changes
            self.background = background ? true : nil
        }

        public static let summary = "The tasks, and the changes."
        public static let wireFields: WireFields<Self> = [
            .required("filter", \.filter, "The tasks."),
            .required("changes", \.changes, "The fields to change."),
            .optional(
                "background", \.background,
                "Answers at once with the id of an operation that continues in the background, also after a crash "
                    + "(operation.get, operation.ended); default false."),
        ]
    }

    /// The numbers of tasks, or the operation that changes them.
    public enum Result: WireValue, Hashable {
        case counted(SelectionResult.Counted)
        case operation(SelectionResult.Begun)

        public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
            if value["operation"] != nil {
                self = .operation(try SelectionResult.Begun(wire: value, mode: mode))
            } else {
                self = .counted(try SelectionResult.Counted(wire: value, mode: mode))
            }
        }

        public var wire: JSONValue {
            switch self {
            case .counted(let counted): counted.wire
            case .operation(let begun): begun.wire
            }
        }

        public static func schema(in schemas: inout WireSchemas) -> JSONValue {
            let forms = [
                SelectionResult.Counted.schema(in: &schemas), SelectionResult.Begun.schema(in: &schemas),
            ]
            return schemas.reference(to: "TaskUpdateManyResult") { _ in ["oneOf": .array(forms)] }
        }
    }
}
