import XferModel
import XferProtocol

extension DaemonSession {
    /// Reports the rows that a list leaves out because they are damaged in the daemon's database.
    ///
    /// - Parameter kind: the beginning of their descriptions in `damaged_rows`: `profile`, `token` or `trust policy`.
    func reportDamaged(_ kind: String, error: Output = .error) {
        guard let status = try? call(DaemonStatus.self).value else { return }
        for row in status.damagedRows ?? [] where row.hasPrefix("\(kind) ") {
            error.line(
                "xferctl: the \(SafeText.sanitised(row)) is damaged in the database: set it again or remove it")
        }
    }
}

/// Texts about damaged rows of the daemon's database.
enum DamagedRowText {
    /// The beginning of the description of a task in `damaged_rows`.
    static let task = "task "

    /// The most important ones of these descriptions, on one line.
    static func list(_ rows: [String]) -> String {
        // The others stop or refuse work, of which there is much.
        let ordered = rows.filter { !$0.hasPrefix(task) } + rows.filter { $0.hasPrefix(task) }
        let shown = ordered.prefix(20).map { SafeText.sanitised($0) }.joined(separator: ", ")
        return ordered.count > 20 ? "\(shown) and \(ordered.count - 20) more" : shown
    }

    /// Reports the tasks that a list leaves out.
    static func report(_ tasks: [TaskID], error: Output = .error) {
        guard !tasks.isEmpty else { return }
        error.line(
            "xferctl: left out, because damaged in the database: \(SelectionText.list(tasks)); "
                + "xferctl doctor says what helps")
    }
}
