import StrictJSON
import XferModel
import XferProtocol

/// The facts about a task that one line on the screen shows. They come from a listing and from events.
struct TaskSummary: Hashable, Sendable {
    var id: Int64
    /// Label, file name or URL, see `name(of:)`. It may contain control characters: sanitise it before printing.
    var name: String
    /// The state as the daemon sent it. A state that this program does not know is shown unchanged.
    var state: String
    var phase: String?
    var waitReason: String?
    var waitUntil: Timestamp?
    /// Bytes held so far; for an upload, bytes sent.
    var received: Int64 = 0
    /// Complete length in bytes; nil while unknown.
    var total: Int64?
    /// Bytes per second.
    var rate: Int64 = 0
    /// Seconds until the end at this rate; nil while unknown.
    var eta: Int64?
    var failure: Failure?
    var finalPath: String?
    var isSkipped = false
    var isNotModified = false
    /// Whether the task is an upload. Then `received` counts the bytes that were sent.
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

extension TaskSummary {
    /// The fields that a listing has to contain for `init(_:)`.
    static let columns = TaskColumns([
        "kind", "state", "phase", "wait", "error", "progress", "label", "output", "url", "final_path", "skipped",
        "not_modified",
    ])

    init(_ record: TaskRecord) {
        self.init(
            id: record.id.rawValue, name: Self.name(of: record), state: record.state?.description ?? "unknown",
            phase: record.phase?.description, waitReason: record.wait?.reason.description,
            waitUntil: record.wait?.until, failure: record.error.map(Failure.init), finalPath: record.finalPath,
            isSkipped: record.skipped ?? false, isNotModified: record.notModified ?? false)
        isUpload = record.kind?.value == .upload
        if let progress = record.progress { apply(progress) }
    }

    mutating func apply(_ progress: ProgressRecord) {
        received = isUpload ? progress.sent : progress.received
        total = progress.total
        rate = progress.rate
        eta = progress.eta
    }

    /// Applies an event about this task.
    mutating func apply(_ event: EventMessage) {
        guard case .known(.durable(let type)) = event.type else { return applyProgress(event) }
        if type != .taskWaiting { (waitReason, waitUntil) = (nil, nil) }
        switch type {
        case .taskStarted: start(event)
        case .taskResponse:
            total = event.value("total") ?? total
        case .taskSourceChanged: received = 0
        case .taskWaiting: wait(event)
        case .taskPaused: state = TaskState.paused.rawValue
        case .taskResumed, .taskRestored: state = TaskState.queued.rawValue
        case .taskStaged: stage(event)
        case .taskCompleted, .taskFailed, .taskCancelled, .taskSuperseded: end(event)
        default: break
        }
        if !isRunning { (rate, eta, phase) = (0, nil, nil) }
    }

    private mutating func start(_ event: EventMessage) {
        state = TaskState.running.rawValue
        phase = TaskPhase.connecting.rawValue
        received = event.value("offset") ?? received
    }

    private mutating func applyProgress(_ event: EventMessage) {
        guard let progress = event.progress else { return }
        state = TaskState.running.rawValue
        phase = event.value("phase")
        apply(progress)
    }

    private mutating func wait(_ event: EventMessage) {
        guard let wait = event.value("wait", WaitRecord.self) else { return }
        state = TaskState.waiting.rawValue
        waitReason = wait.reason.description
        waitUntil = wait.until
        failure = event.value("error", FailureRecord.self).map(Failure.init)
    }

    private mutating func stage(_ event: EventMessage) {
        state = TaskState.staged.rawValue
        guard let size = event.value("size", Int64.self) else { return }
        (received, total) = (size, size)
    }

    private mutating func end(_ event: EventMessage) {
        state = event.body["state"]?.stringValue ?? state
        if event.type == .known(.durable(.taskCompleted)), let size = event.value("size", Int64.self) {
            finalPath = event.value("path")
            (received, total) = (size, size)
            isSkipped = event.value("skipped") ?? false
            isNotModified = event.value("not_modified") ?? false
        }
        failure = event.value("error", FailureRecord.self).map(Failure.init)
    }

    /// The label, else the file's name, else the last path component of the URL or the URL itself, else the task's id.
    private static func name(of record: TaskRecord) -> String {
        if let label = record.label { return label }
        if let path = record.finalPath ?? record.output, let name = path.split(separator: "/").last {
            return String(name)
        }
        return record.url.map(shortName(of:)) ?? "task \(record.id)"
    }

    static func shortName(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let afterScheme = path.firstRange(of: "://").map { path[$0.upperBound...] } ?? path
        let parts = afterScheme.split(separator: "/")
        guard parts.count > 1, let last = parts.last else { return String(path) }
        return String(last)
    }
}

extension TaskSummary.Failure {
    init(_ record: FailureRecord) {
        self.init(reason: record.reason.description, message: record.message, isRetriable: record.isRetriable)
    }
}

/// The colour of a state. Green tasks have completed, red tasks need the user, and yellow tasks continue later by
/// themselves.
enum StateStyle {
    static func attribute(_ state: String) -> Style.Attribute? {
        switch TaskState(rawValue: state) {
        case .running: .cyan
        case .completed: .green
        case .failed: .red
        case .waiting: .yellow
        case .paused, .staged: .magenta
        case .cancelled: .dim
        case .queued, nil: nil
        }
    }
}
