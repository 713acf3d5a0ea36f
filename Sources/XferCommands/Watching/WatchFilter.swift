import XferModel
import XferProtocol

/// A filter of the live view: it shows tasks that contain every typed word.
///
/// A word that is a state's name selects that state, so that the daemon need not list the others. Other words are
/// searched in id, label, name of the file, host, state and reason, without regard to case.
struct WatchFilter: Hashable, Sendable {
    /// The typed text.
    let text: String
    private let words: [String]
    /// The selected states; nil is every state.
    let states: Set<TaskState>?

    init(_ text: String = "") {
        self.text = text
        let typed = text.lowercased().split(separator: " ").map(String.init)
        let named = typed.compactMap { TaskState(rawValue: $0) }
        states = named.isEmpty ? nil : Set(named)
        words = typed.filter { TaskState(rawValue: $0) == nil }
    }

    var isEmpty: Bool { words.isEmpty && states == nil }

    /// True if the daemon's lists contain other tasks than those that match.
    var isSearch: Bool { !words.isEmpty }

    func matches(_ task: WatchTask) -> Bool {
        if let states, !states.contains(where: { $0.rawValue == task.summary.state }) { return false }
        guard !words.isEmpty else { return true }
        let summary = task.summary
        let reasons = [summary.waitReason, summary.failure?.reason].compactMap(\.self).map(WaitText.words)
        let text = (["#\(summary.id)", summary.name, task.fileName, task.host, summary.state] + reasons)
            .joined(separator: "\n").lowercased()
        return words.allSatisfy { text.contains($0) }
    }
}

/// A task as the live view lists it.
struct WatchTask: Hashable, Sendable {
    /// The summary; its name is the label, if the task has one.
    var summary: TaskSummary
    var fileName = ""
    /// The host of its URL; empty if there is none.
    var host = ""
    var finishedAt: Timestamp?
    /// The same for tasks that share a request.
    var transfer: TransferID?

    var id: Int64 { summary.id }
    var state: TaskState? { TaskState(rawValue: summary.state) }
    var section: WatchSection { WatchSection(of: summary.state) }
}

extension WatchTask {
    init(_ record: TaskRecord) {
        self.init(
            summary: TaskSummary(record), fileName: TaskSummary.fileName(of: record),
            host: record.url.map(Self.host(of:)) ?? "", finishedAt: record.finishedAt, transfer: record.transfer)
    }

    /// Returns host and port of a URL as the daemon writes it.
    static func host(of url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        return String(authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority)
    }
}
