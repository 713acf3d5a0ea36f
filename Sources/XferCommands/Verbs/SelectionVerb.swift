import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// A verb for tasks that has an effect only in certain states.
protocol TaskVerb: ParsableCommand {
    /// The states in which the verb has an effect; completions offer tasks in them, and filters are narrowed to them.
    static var states: Set<TaskState> { get }
}

/// A verb that calls one method on selected tasks. Such verbs differ in their method only.
protocol SelectionVerb: TaskVerb {
    associatedtype Method: RPCMethod where Method.Params == TaskSelection, Method.Result == SelectionResult

    /// Past participle, for "3 paused".
    static var participle: String { get }
    var selection: SelectionOptions { get }
    var options: ActionOptions { get }
}

extension SelectionVerb {
    mutating func validate() throws { try selection.check() }

    func run() throws {
        let daemon = try options.open()
        let chosen = try selection.selection(daemon)
        let answer = try OperationWaiter.result(of: Method.self, chosen, daemon, options) { $0 }
        options.show(answer) { result, _ in
            SelectionText.lines(
                result, participle: Self.participle, states: Self.states, reason: SelectionReason(selection, daemon))
        }
        try SelectionText.refuseMissing(in: answer.value, among: selection.singles)
    }
}

/// The output of a verb that acts on selected tasks.
enum SelectionText {
    /// The lines about the result of the verb.
    ///
    /// - Parameters:
    ///   - states: the states in which the verb changes a task; they explain why others did not change.
    ///   - reason: determines why a filter changed nothing.
    static func lines(
        _ result: SelectionResult, participle: String, states: Set<TaskState>, reason: SelectionReason
    ) -> [String] {
        switch result {
        case .operation(let begun):
            return ["operation \(begun.operation) continues in the daemon"]
        case .filter(let counted) where counted.refusedCount != nil:
            let others = counted.unchangedCount == 0 ? "" : ", \(counted.unchangedCount) unchanged"
            return ["\(counted.changedCount) \(participle)\(others)"]
        case .filter(let counted) where counted.changedCount == 0:
            guard counted.unchangedCount > 0 else { return ["nothing \(participle): \(reason.noMatch())"] }
            let found = counted.unchangedCount == 1 ? "1 task matches" : "\(counted.unchangedCount) tasks match"
            let counts = reason.states().map { " (\($0))" } ?? ""
            return ["nothing \(participle): \(found)\(counts), but \(condition(states, participle))"]
        case .filter(let counted):
            let others = counted.unchangedCount == 0 ? "" : ", \(counted.unchangedCount) unchanged"
            return ["\(counted.changedCount) \(participle)\(others)"]
        case .ids(let listed):
            let changed = listed.changed.isEmpty ? [] : ["\(participle): \(list(listed.changed))"]
            return changed + listed.unchanged.map { unchanged($0, participle, states) }
        }
    }

    /// The sentence about the states in which a verb applies, such as `only queued, waiting and running tasks can be
    /// paused`.
    static func condition(_ states: Set<TaskState>, _ participle: String) -> String {
        "only \(states.words(joinedBy: "and")) tasks can be \(participle)"
    }

    private static func unchanged(
        _ task: SelectionResult.Unchanged, _ participle: String, _ states: Set<TaskState>
    ) -> String {
        let state = "unchanged: #\(task.id) is \(SafeText.sanitised(task.state.description))"
        if let reason = task.reason {
            switch reason {
            case "not_resumable": return "\(state), and its request must not be made twice"
            case "damaged": return "\(state), and its row in the database is damaged; cancel it, then remove it"
            default: return "\(state) (\(WaitText.words(reason)))"
            }
        }
        guard let known = task.state.value, !states.contains(known), known.rawValue != participle else { return state }
        let id = task.id
        switch (known, participle) {
        case (.waiting, "retried"): return "\(state); \(SuggestedCommand.text("resume \(id)")) tries again now"
        case (.queued, "resumed"):
            return "\(state) and not paused; \(SuggestedCommand.text("show \(id)")) says what it waits for"
        case (.queued, "removed"), (.running, "removed"), (.waiting, "removed"), (.paused, "removed"):
            return "\(state); \(SuggestedCommand.text("cancel \(id)")) ends it, then it can be removed"
        default: return "\(state); \(condition(states, participle))"
        }
    }

    /// Throws if tasks were refused, some ids belong to no task, or a range has none. The daemon has acted on the other
    /// tasks nevertheless.
    ///
    /// - Parameter required: the ids that have to exist; nil is all.
    static func refuseMissing(
        in result: SelectionResult, among required: Set<TaskID>? = nil
    ) throws(CommandFailure) {
        if case .filter(let counted) = result, let count = counted.refusedCount {
            let reasons = (counted.refused ?? []).prefix(10).map { "\n    " + SafeText.sanitised($0.message) }
            let tasks = count == 1 ? "1 task was" : "\(count) tasks were"
            throw CommandFailure(.refused, "\(tasks) refused:\(reasons.joined())")
        }
        guard case .ids(let listed) = result else { return }
        let missing = listed.missing.filter { required?.contains($0) ?? true }
        if missing.isEmpty, !listed.missing.isEmpty, listed.changed.isEmpty, listed.unchanged.isEmpty {
            throw CommandFailure(.refused, SelectionOptions.emptyRange)
        }
        guard !missing.isEmpty else { return }
        throw CommandFailure(.refused, "there is no task \(missing.map(\.description).joined(separator: ", "))")
    }

    static func list(_ ids: [TaskID]) -> String {
        let shown = ids.prefix(20).map { "#\($0)" }.joined(separator: " ")
        return ids.count > 20 ? "\(shown) and \(ids.count - 20) more" : shown
    }
}
