import StrictJSON
public import XferModel

/// `task.move`: changes the order of starting.
public enum TaskMove: RPCMethod {
    public typealias Result = SelectionResult

    public static let name = "task.move"
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

    /// Where to.
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
