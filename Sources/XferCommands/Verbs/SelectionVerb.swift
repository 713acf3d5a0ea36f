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
        let answer = try options.open().call(Method.self, selection.selection)
        options.show(answer) { result, _ in SelectionText.lines(result, deed: Self.deed) }
        try SelectionText.refuseMissing(in: answer.value)
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
    static func refuseMissing(in result: SelectionResult) throws(CommandFailure) {
        guard case .ids(let listed) = result, !listed.missing.isEmpty else { return }
        throw CommandFailure(.refused, "there is no task \(listed.missing.map(\.description).joined(separator: ", "))")
    }

    private static func list(_ ids: [TaskID]) -> String {
        let shown = ids.prefix(20).map { "#\($0)" }.joined(separator: " ")
        return ids.count > 20 ? "\(shown) and \(ids.count - 20) more" : shown
    }
}
