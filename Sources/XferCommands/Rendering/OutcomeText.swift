import XferModel

/// The lines about a task's end that stay in the terminal's history: its state, its file, and for a failure the reason
/// and advice.
struct OutcomeText: Sendable {
    let style: Style
    /// True if this program reads staged files itself, so that they need no publishing.
    var isReadAfterwards = false
    /// The proxies that the reader's other programs use.
    var callerProxies = CallerProxies()
    /// False if the advice on a failure is left out, because it was given for another task.
    var showsAdvice = true

    func lines(_ task: TaskSummary) -> [String] {
        let name = SafeText.sanitised(task.name)
        let id = "#\(task.id)"
        let state = style(StateStyle.attribute(task.state), SafeText.sanitised(task.state))
        switch TaskState(rawValue: task.state) {
        case .completed: return ["\(id) \(state): \(name)\(ending(task))"] + warning(task)
        case .failed:
            guard let failure = task.failure else { return ["\(id) \(state): \(name)"] }
            return ["\(id) \(state): \(name): \(reason(failure))"]
                + (showsAdvice ? advice(failure, id: task.id, profile: task.profile) : [])
        case .staged:
            let size = ByteText.size(task.total ?? task.received)
            let commit = isReadAfterwards ? [] : ["    Publish it with \(SuggestedCommand.text("commit \(task.id)"))."]
            return ["\(id) \(state): \(name) (\(size))"] + warning(task) + commit
        default: return ["\(id) \(state): \(name)"]
        }
    }

    private func warning(_ task: TaskSummary) -> [String] {
        task.warning.map { ["    Warning: \(SafeText.sanitised($0))."] } ?? []
    }

    func reason(_ failure: TaskSummary.Failure) -> String {
        "\(SafeText.sanitised(FailureText.readable(failure.message))) (\(SafeText.sanitised(failure.reason)))"
    }

    /// The lines of advice on a failure.
    func advice(_ failure: TaskSummary.Failure, id: Int64, profile: String? = nil) -> [String] {
        [FailureAdvice.sentence(failure, id: id, profile: profile), callerProxies.note(about: failure, id: id)]
            .compactMap { sentence in sentence.map { "    \($0)" } }
    }

    private func ending(_ task: TaskSummary) -> String {
        let path = task.finalPath.map { SafeText.sanitised($0) }
        if task.isSkipped {
            return task.isVerified
                ? " (already complete, verified: \(path ?? "the file"))" : " (skipped: \(path ?? "the file") exists)"
        }
        if task.isNotModified { return " (\(path ?? "the file") is current, nothing fetched)" }
        let size = ByteText.size(task.total ?? task.received)
        return path.map { " -> \($0) (\(size))" } ?? " (\(size))"
    }
}
