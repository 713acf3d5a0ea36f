import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// A verb that calls one method on selected tasks. Such verbs differ in their method only.
protocol SelectionVerb: ParsableCommand {
    associatedtype Method: RPCMethod where Method.Params == TaskSelection, Method.Result == SelectionResult

    /// Past participle, for "3 paused".
    static var deed: String { get }
    var selection: SelectionOptions { get }
    var options: VerbOptions { get }
}

extension SelectionVerb {
    func run() throws {
        let daemon = try options.open()
        let answer = try daemon.call(Method.self, try selection.selection(daemon))
        options.show(answer) { result, _ in SelectionText.lines(result, deed: Self.deed) }
        try SelectionText.refuseMissing(in: answer.value, among: selection.singles)
    }
}

/// The output of a verb that acts on selected tasks.
enum SelectionText {
    static func lines(_ result: SelectionResult, deed: String) -> [String] {
        switch result {
        case .filter(let counted):
            let others = counted.unchangedCount == 0 ? "" : ", \(counted.unchangedCount) unchanged"
            return ["\(counted.changedCount) \(deed)\(others)"]
        case .ids(let listed):
            let changed = listed.changed.isEmpty ? [] : ["\(deed): \(list(listed.changed))"]
            return changed
                + listed.unchanged.map { "unchanged: #\($0.id) is \(SafeText.sanitised($0.state.description))" }
        }
    }

    /// Throws if some ids name no task. The daemon has acted on the other tasks nevertheless.
    ///
    /// - Parameter required: the ids that have to be there; nil is all.
    static func refuseMissing(
        in result: SelectionResult, among required: Set<TaskID>? = nil
    ) throws(CommandFailure) {
        guard case .ids(let listed) = result else { return }
        let missing = listed.missing.filter { required?.contains($0) ?? true }
        guard !missing.isEmpty else { return }
        throw CommandFailure(.refused, "there is no task \(missing.map(\.description).joined(separator: ", "))")
    }

    private static func list(_ ids: [TaskID]) -> String {
        let shown = ids.prefix(20).map { "#\($0)" }.joined(separator: " ")
        return ids.count > 20 ? "\(shown) and \(ids.count - 20) more" : shown
    }
}
