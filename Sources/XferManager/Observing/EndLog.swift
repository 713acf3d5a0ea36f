import Logging
import NIOConcurrencyHelpers
import XferModel
import XferStore
import XferSystem

/// Writes one line to the log for each task that completes or fails, up to `EndLogLimit` of each.
///
/// A commit only passes the events on, because a log whose reader has stopped blocks its writer. If more ends wait than
/// `maxWaiting`, the oldest of them are left out; the event log has them all.
struct EndLog: Sendable {
    private let continuation: AsyncStream<Event>.Continuation
    private let store = NIOLockedValueBox(WeakStore())

    private struct WeakStore: Sendable {
        weak var value: TaskStore?
    }

    private static let maxWaiting = 1000

    init(_ logger: Logger) {
        let (events, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.maxWaiting))
        self.continuation = continuation
        Task { [store] in
            var limits = (completed: EndLogLimit(), failed: EndLogLimit())
            for await event in events {
                guard let id = event.taskID else { continue }
                let limit: EndLogLimit
                let kind: String
                switch event.payload {
                case .taskCompleted:
                    guard Self.admits(&limits.completed, "completed tasks", logger) else { continue }
                    (limit, kind) = (limits.completed, "completed")
                case .taskFailed:
                    guard Self.admits(&limits.failed, "failures", logger) else { continue }
                    (limit, kind) = (limits.failed, "failed")
                default: continue
                }
                // Only of those that are written: a read takes longer than a line.
                let reader = store.withLockedValue { $0.value }
                let found = try? await reader?.read { reader -> (TransferTask?, RunTimes?) in
                    let task = try reader.tasks.find(id)
                    guard try RunTimes.matter(to: task, until: event, in: reader) else { return (task, nil) }
                    return (task, try reader.events.runTimes(of: id, upTo: event))
                }
                EndLogLine(event, found?.0, found?.1)?.write(to: logger)
                if limit.isUsedUp {
                    logger.notice(
                        "further ones are not logged for a minute: xferctl list --state \(kind) shows all")
                }
            }
        }
    }

    /// Sets the store that has the details of tasks.
    func follow(_ store: TaskStore) { self.store.withLockedValue { $0.value = store } }

    func onCommit(_ events: [Event]) {
        for event in events {
            switch event.payload {
            case .taskCompleted, .taskFailed: continuation.yield(event)
            default: break
            }
        }
    }

    private static func admits(_ limit: inout EndLogLimit, _ what: String, _ logger: Logger) -> Bool {
        let leftOut = limit.lastCount
        guard limit.admit(at: Clocks.monotonic()) else { return false }
        if limit.isNew, leftOut > 0 {
            logger.notice("\(what) were not logged", metadata: ["count": "\(leftOut)"])
        }
        return true
    }
}

/// The line about a task that has ended.
struct EndLogLine {
    let level: Logger.Level
    let message: String
    private(set) var metadata: Logger.Metadata = [:]

    /// - Parameters:
    ///   - task: nil if it was removed already.
    ///   - runs: the task's runs up to this event.
    init?(_ event: Event, _ task: TransferTask?, _ runs: RunTimes? = nil) {
        switch event.payload {
        case .taskCompleted(let path, let size, let skipped, let notModified, let warning):
            level = .info
            message = skipped ? "a task has completed: its file existed" : "a task has completed"
            if let path { metadata["path"] = "\(path)" }
            metadata["bytes"] = "\(size)"
            if notModified { metadata["not_modified"] = "true" }
            if let warning { metadata["warning"] = "\(warning)" }
        case .taskFailed(let error):
            (level, message) = (.warning, "a task has failed")
            metadata["reason"] = "\(error.reason.rawValue)"
            metadata["error"] = "\(error.message)"
            if let host = error.host { metadata["host"] = "\(host)" }
        default: return nil
        }
        if let id = event.taskID { metadata["task"] = "\(id)" }
        if let owner = event.owner { metadata["owner"] = "\(owner)" }
        if let task { add(task, runs) }
    }

    private mutating func add(_ task: TransferTask, _ runs: RunTimes?) {
        metadata["url"] = "\(Redaction.url(task.specification.request.url.string))"
        if metadata["host"] == nil { metadata["host"] = "\(task.host)" }
        if let label = task.specification.label { metadata["label"] = "\(label)" }
        if let name = task.specification.destination.name, metadata["path"] == nil { metadata["name"] = "\(name)" }
        let count = max(task.attempts, runs?.count ?? 0)
        metadata["attempts"] = "\(count)"
        guard let start = task.startedAt, let end = task.finishedAt else { return }
        var milliseconds = max(0, end.rawValue.subtractingSaturated(start.rawValue)) / 1000
        // Several runs, with waits between them, or a retry by the user.
        if let runs, runs.count > 1 { milliseconds = runs.milliseconds }
        metadata["seconds"] = "\(Self.seconds(milliseconds))"
        let bytes = max(task.received, task.sent)
        if milliseconds > 0, bytes > 0 {
            metadata["bytes_per_second"] = "\(bytes.multipliedSaturated(by: 1000) / milliseconds)"
        }
    }

    /// `1.5` of 1,500 milliseconds.
    static func seconds(_ milliseconds: Int64) -> String {
        let tenths = milliseconds / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    func write(to logger: Logger) { logger.log(level: level, "\(message)", metadata: metadata) }
}

/// The limit of ends of one kind in the log in a minute: a server that fails 100,000 tasks must not fill the disk.
struct EndLogLimit {
    static let perWindow = 200
    static let window = Duration.seconds(60)

    private var beganAt: MonotonicInstant?
    private var admitted = 0
    /// The number of ends that this window has left out so far.
    private(set) var lastCount = 0
    /// True if the last end began a window.
    private(set) var isNew = false

    /// True if the last end was the window's last one.
    var isUsedUp: Bool { admitted == Self.perWindow && lastCount == 0 }

    /// Counts an end. Returns true if it is written to the log.
    mutating func admit(at now: MonotonicInstant) -> Bool {
        isNew = beganAt.map { $0.duration(to: now) >= Self.window } ?? true
        if isNew {
            beganAt = now
            admitted = 0
            lastCount = 0
        }
        guard admitted < Self.perWindow else {
            lastCount += 1
            return false
        }
        admitted += 1
        return true
    }
}
