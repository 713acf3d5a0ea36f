import StrictJSON
import XferModel
import XferProtocol

/// Everything about one task: a name and a value per line, in the order of the wire, times and sizes made readable.
struct TaskDetails: Sendable {
    let style: Style
    /// The time from which remaining waits are counted.
    let now: Timestamp
    /// The proxies of the environment of the person who runs the command.
    var callerProxies = CallerProxies()

    /// The width of the names, in columns.
    static let nameWidth = 18

    func lines(_ task: TaskRecord) -> [String] { entries(task).map { line($0.name, $0.text) } }

    /// The names and values of fields; an empty name continues the field before.
    func entries(_ task: TaskRecord) -> [(name: String, text: String)] {
        let glance = TaskSummary(task)
        var entries: [(name: String, text: String)] = []
        for (name, value) in task.wire.objectValue?.members ?? [] {
            for (index, text) in texts(name, value, task, glance).enumerated() {
                entries.append((index == 0 ? name : "", text))
            }
        }
        for (index, text) in advice(glance).enumerated() { entries.append((index == 0 ? "what to do" : "", text)) }
        return entries
    }

    /// The advice about a failure. A task that is retried needs it only where repeating the request may not help.
    func advice(_ task: TaskSummary) -> [String] {
        guard let failure = task.failure else { return [] }
        let isRetried = task.waitReason == WaitReason.retry.rawValue
        guard task.state == TaskState.failed.rawValue || isRetried else { return [] }
        let advice =
            isRetried && failure.cause == nil
            ? nil : FailureAdvice.sentence(failure, id: task.id, profile: task.profile)
        return [advice, callerProxies.note(about: failure, id: task.id)].compactMap(\.self)
    }

    private func line(_ name: String, _ text: String) -> String {
        style(.bold, TextWidth.padded(name, to: Self.nameWidth)) + " " + text
    }

    private func texts(_ name: String, _ value: JSONValue, _ task: TaskRecord, _ glance: TaskSummary) -> [String] {
        switch name {
        case "state": [style(StateStyle.attribute(glance.state), SafeText.sanitised(glance.state))]
        case "wait":
            WaitText.sentence(glance, now: now).map { [$0] } ?? []
        case "error": glance.failure.map { [error(glance, $0)] } ?? []
        case "progress": [progress(glance)]
        case "discarded":
            [
                task.discarded.map {
                    "\(ByteText.size($0.bytes)) at \(TimeText.local(rfc3339: $0.at.wire.stringValue ?? "")): "
                        + SafeText.sanitised($0.reason)
                } ?? ""
            ]
        case "file_system": [task.fileSystem.map { SafeText.sanitised($0.sentence) } ?? ""]
        case "window": [window(task.schedule.window.applied(to: nil).map { WindowRecord($0) })]
        case "urls": task.urls?.map(SafeText.sanitised) ?? []
        case "after": [task.after?.map { "#\($0)" }.joined(separator: ", ") ?? ""]
        case "created_at", "started_at", "finished_at", "not_before", "deadline":
            [TimeText.local(rfc3339: value.stringValue ?? "")]
        case "max_recv_rate", "max_send_rate", "min_recv_rate": [ByteText.limit(value.integerValue ?? 0)]
        case "ranges":
            (task.ranges ?? []).map { range in
                "\(range.start)-\(range.end.map { "\($0.subtractingSaturated(1))" } ?? ""), \(ByteText.size(range.committed.subtractingSaturated(range.start)))"
            }
        case "last_attempt": task.lastAttempt.map(attempt) ?? []
        case "retry_for": [DurationText.short(value.integerValue ?? 0)]
        case "headers", "response_headers": headers(value)
        case "credential": ["set"]
        case "body":
            [
                task.body.map { body in
                    body.form.description + (body.length.map { ", \(ByteText.size($0))" } ?? "")
                        + (body.file.map { ", " + SafeText.sanitised($0) } ?? "")
                } ?? ""
            ]
        default: [SafeText.sanitised(value.stringValue ?? value.text)]
        }
    }

    /// The failure. That of an earlier attempt is not the state of a task that runs again.
    private func error(_ task: TaskSummary, _ failure: TaskSummary.Failure) -> String {
        let isPresent = [TaskState.failed, .waiting].contains { $0.rawValue == task.state }
        return (isPresent ? "" : "of an earlier attempt: ") + OutcomeText(style: style).reason(failure)
    }

    private func progress(_ task: TaskSummary) -> String {
        var parts = [
            task.total.map { "\(ByteText.size(task.received)) of \(ByteText.size($0))" } ?? ByteText.size(task.received)
        ]
        if task.total != nil { parts.append("(\(Bar.percent(task.received, of: task.total)))") }
        if task.isRunning { parts.append("at \(ByteText.rate(task.rate))") }
        if let eta = task.eta { parts.append("\(DurationText.short(eta)) left") }
        return parts.joined(separator: " ")
    }

    /// The connection, and a line with the times.
    private func attempt(_ record: AttemptRecord) -> [String] {
        var place = TimeText.local(record.beganAt)
        if let address = record.address {
            place += ": \(SafeText.sanitised(address))" + (record.port.map { ", port \($0)" } ?? "")
        }
        if let version = record.httpVersion { place += ", \(SafeText.sanitised(version))" }
        if record.isReused == true { place += ", kept connection" }
        let steps = [
            ("name", record.nameLookup), ("connected", record.connect), ("TLS", record.tls),
            ("first byte", record.firstByte), ("total", record.total),
        ]
        let times = steps.compactMap { name, time in time.map { "\(name) \(Self.text(seconds: $0))" } }
        return [place] + (times.isEmpty ? [] : [times.joined(separator: ", ")])
    }

    private static func text(seconds: Double) -> String {
        let milliseconds = Int64(saturating: max(0, seconds) * 1000)
        if milliseconds >= 10_000 { return DurationText.short(milliseconds / 1000) }
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }

    private func window(_ record: WindowRecord?) -> String {
        let days = record?.days?.map(\.wireName).joined(separator: ",")
        let times = record?.times?.map(\.description).joined(separator: ",")
        return SafeText.sanitised([days, times, record?.zone].compactMap(\.self).joined(separator: " "))
    }

    private func headers(_ value: JSONValue) -> [String] {
        (value.objectValue?.members ?? []).flatMap { name, value in
            (value.arrayValue ?? [value]).map { SafeText.sanitised("\(name): \($0.stringValue ?? $0.text)") }
        }
    }
}
