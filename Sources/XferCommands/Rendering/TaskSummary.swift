import StrictJSON
import XferModel
import XferProtocol

/// The facts about a task that one line on the screen shows. They come from a listing and from events.
struct TaskSummary: Hashable, Sendable {
    var id: Int64
    /// Label, file name or URL, see `name(of:)`. It may contain control characters: sanitise it before printing.
    var name: String
    /// The file's name, or the end of the URL; for a column beside the label's. Not sanitised.
    var fileName = ""
    var label: String?
    /// The state's name on the wire: a state that is unknown to this program is shown unchanged.
    var state: String
    var phase: String?
    var waitReason: String?
    var waitUntil: Timestamp?
    /// The reason why each node of a fleet has declined it. Not sanitised.
    var waitDetail: String?
    /// The URL whose answer causes the wait.
    var waitURL: String?
    /// The number of bytes received so far; for an upload, bytes sent.
    var received: Int64 = 0
    /// Complete length in bytes; nil while unknown.
    var total: Int64?
    /// Bytes per second.
    var rate: Int64 = 0
    /// Seconds until the end at this rate; nil while unknown.
    var eta: Int64?
    var failure: Failure?
    /// The profile whose credential, if it has one, the task uses; nil if the task has its own. Not sanitised.
    var profile: String?
    var finalPath: String?
    var isSkipped = false
    var isNotModified = false
    /// True if the task is known to demand a digest. A file that existed and was kept has that digest, too.
    var isVerified = false
    /// A warning about its file; nil if there is none. Not sanitised.
    var warning: String?
    /// True if the task is an upload. Then `received` counts the bytes that were sent.
    var isUpload = false

    /// The reason why a task failed, or why it waits for another attempt.
    struct Failure: Hashable, Sendable {
        var reason: String
        var message: String
        var isRetriable = false
        var httpStatus: Int?
        /// The host with the port, in the form of messages.
        var host: String?
        var cause: FailureCause?
        var furtherCauses: [FailureCause] = []
        /// The key of the certificate that an untrusted server showed. Not sanitised.
        var shownPin: String?
        /// The trust policy that refused the server. Not sanitised.
        var policy: String?
        /// The kinds of login that the server or the proxy accepts.
        var acceptedLogins: [String] = []
        var curlCode: Int32?
        /// The proxy that failed, refused, or may have sent the answer. Not sanitised.
        var proxy: String?
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
        "not_modified", "warning", "max_recv_rate", "max_send_rate", "checksum", "post_process", "profile",
        "credential",
    ])

    init(_ record: TaskRecord) {
        self.init(
            id: record.id.rawValue, name: Self.name(of: record), state: record.state?.description ?? "unknown",
            phase: record.phase?.description, waitReason: record.wait?.reason.description,
            waitUntil: record.wait?.until, waitDetail: record.wait?.detail, failure: record.error.map(Failure.init),
            finalPath: record.finalPath,
            isSkipped: record.skipped ?? false, isNotModified: record.notModified ?? false)
        fileName = Self.fileName(of: record)
        waitURL = record.wait?.url
        profile = record.access.credential.isChange ? nil : record.profile
        label = record.label
        warning = record.warning
        isUpload = record.kind?.value == .upload
        // The digest is that of the received bytes, not that of a hook's file.
        isVerified = record.checksum != nil && !record.completion.postProcess.isChange
        if let progress = record.progress { apply(progress) }
    }

    /// Creates the summary of a task that was added just now, and is queued.
    init(added id: TaskID, _ task: NewTask) {
        var record = TaskRecord()
        record.id = id
        record.kind = task.kind.map { .known($0) }
        record.label = task.label
        record.output = task.output
        record.url = Redaction.url(task.firstURL)
        record.limits = task.limits
        record.checksum = task.checksum?.description
        record.completion = task.completion
        self.init(record)
        state = TaskState.queued.rawValue
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
        if type != .taskWaiting { (waitReason, waitUntil, waitDetail, waitURL) = (nil, nil, nil, nil) }
        switch type {
        case .taskStarted: start(event)
        case .taskResponse:
            total = event.value("total") ?? total
        case .taskSourceChanged, .taskBytesDiscarded: received = 0
        case .taskWarning: warning = event.value("warning")
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
            if let last = finalPath?.split(separator: "/").last {
                fileName = String(last)
                name = label ?? fileName
            }
            (received, total) = (size, size)
            isSkipped = event.value("skipped") ?? false
            isNotModified = event.value("not_modified") ?? false
            warning = event.value("warning") ?? warning
        }
        failure = event.value("error", FailureRecord.self).map(Failure.init)
    }

    /// The label, else as `fileName`.
    private static func name(of record: TaskRecord) -> String {
        record.label ?? fileName(of: record)
    }

    /// The file's name, else the end of the URL, else the URL.
    static func fileName(of record: TaskRecord) -> String {
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
        return percentDecoded(last)
    }

    /// The decoded text; unchanged if the escapes are not UTF-8.
    static func percentDecoded(_ text: Substring) -> String {
        guard text.contains("%") else { return String(text) }
        let octets = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < octets.count {
            let digits = octets[index...].dropFirst().prefix(2)
            if octets[index] == UInt8(ascii: "%"), digits.count == 2, let value = hexByte(digits) {
                bytes.append(value)
                index += 3
            } else {
                bytes.append(octets[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? String(text)
    }

    private static func hexByte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}

extension TaskSummary.Failure {
    init(_ record: FailureRecord) {
        self.init(
            reason: record.reason.description, message: record.message, isRetriable: record.isRetriable,
            httpStatus: record.httpStatus, host: record.host, cause: record.cause?.value,
            furtherCauses: (record.furtherCauses ?? []).compactMap(\.value), shownPin: record.shownPin,
            policy: record.policy, acceptedLogins: record.acceptedLogins ?? [], curlCode: record.curlCode,
            proxy: record.proxy)
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
