import XferModel

/// What one line on the screen needs to know about a task, whether it came from a listing or from events.
struct TaskSummary: Hashable, Sendable {
    var id: Int64
    /// Label, file name or URL: whatever tells the task apart best. Not sanitised.
    var name: String
    /// As the wire has it: a state this program does not know is shown as it is.
    var state: String
    var phase: String?
    var waitReason: String?
    var waitUntil: Timestamp?
    var received: Int64 = 0
    var total: Int64?
    var rate: Int64 = 0
    var eta: Int64?
    var failure: Failure?
    var finalPath: String?
    var isSkipped = false
    var isNotModified = false
    /// `received` is then what was sent.
    var isUpload = false

    /// Why a task failed, or why it waits for another try.
    struct Failure: Hashable, Sendable {
        var reason: String
        var message: String
        var isRetriable = false
    }

    var isTerminal: Bool { TaskState(rawValue: state)?.isTerminal ?? false }

    var isStaged: Bool { state == TaskState.staged.rawValue }

    var isRunning: Bool { state == TaskState.running.rawValue }

    var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? Double(received) / Double(total) : 1
    }
}
