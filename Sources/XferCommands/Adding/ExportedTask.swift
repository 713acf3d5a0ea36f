import StrictJSON
import XferModel
import XferProtocol

/// A task as an entry of aria2's input-file format, as `xferctl add -i` reads it.
struct ExportedTask: Hashable, Sendable {
    /// The entry's lines: the URL, or mirrors with tabs between, then the options.
    let lines: [String]
    /// The task's fields that the format cannot carry, as on the wire.
    let lost: [String]

    /// True if the list lacks a condition that the task's start waits for.
    var startsAtOnce: Bool {
        let conditions = ["not_before", "window", "after", "after_batch", "after_group"]
        return !lines.contains("  \(InputOption.pause.rawValue)=true") && lost.contains(where: conditions.contains)
    }

    /// The reason why a task cannot be an entry.
    struct Refusal: Error, Hashable, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }

    /// - Parameters:
    ///   - record: the task with all its fields.
    ///   - hasSecrets: true if the record has its secrets; otherwise they are masked, and a task that has some is
    ///     refused.
    init(_ record: TaskRecord, hasSecrets: Bool) throws(Refusal) {
        guard record.kind?.value ?? .download == .download else {
            throw Refusal(reason: "the format is for downloads only")
        }
        guard record.method ?? HTTPMethod.get.rawValue == HTTPMethod.get.rawValue, record.body == nil else {
            throw Refusal(reason: "the format cannot express a method or content")
        }
        let urls = record.urls ?? [record.url ?? ""]
        guard urls.allSatisfy({ !$0.isEmpty }) else { throw Refusal(reason: "its URL is not known") }
        let fields = record.headers?.fields ?? []
        let masks = urls + fields.map(\.value)
        guard hasSecrets || !masks.contains(where: { $0.contains(Redaction.mask) }) else {
            throw Refusal(reason: "its URL or a header field has a secret; write it with --show-secrets")
        }
        var options = Options()
        let plain = TransferTask.plainDownload(record)
        options.add(record, fields, unless: plain)
        let texts = urls + options.lines
        guard !texts.contains(where: { $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f } }) else {
            throw Refusal(reason: "a line of the format cannot contain a control character")
        }
        lines = [urls.joined(separator: "\t")] + options.lines
        lost = Self.lostFields(of: record, beside: plain, carried: options.carried)
    }

    /// The fields that differ from those of a plain download and have no option.
    private static func lostFields(
        of record: TaskRecord, beside plain: TaskRecord, carried: Set<String>
    ) -> [String] {
        let (own, usual) = (record.wire.objectValue, plain.wire.objectValue)
        return NewTask.wireFields.map(\.name).filter { name in
            guard !carried.contains(name), let value = own?[name] else { return false }
            return value != usual?[name]
        }
    }
}

/// The lines of an entry's options, and the fields that they carry.
private struct Options {
    private(set) var lines: [String] = []
    private(set) var carried: Set<String> = ["url", "urls", "kind", "method"]

    private mutating func add(_ option: InputOption, _ value: String, for field: String) {
        lines.append("  \(option.rawValue)=\(value)")
        carried.insert(field)
    }

    /// Adds an option unless its value is the default of a task.
    private mutating func add<Value: Equatable>(
        _ option: InputOption, _ patch: Patch<Value>, for field: String, unless usual: Patch<Value> = .unchanged,
        _ text: (Value) -> String?
    ) {
        guard case .set(let value) = patch, let text = text(value) else { return }
        guard patch != usual else {
            carried.insert(field)
            return
        }
        add(option, text, for: field)
    }

    /// Adds the options in which a task differs from a plain download.
    ///
    /// - Parameter plain: a download with no option, whose values need no line.
    mutating func add(_ record: TaskRecord, _ headers: [HeaderField], unless plain: TaskRecord) {
        if let directory = record.dir { add(.dir, directory, for: "dir") }
        if let name = record.output { add(.out, name, for: "output") }
        if let checksum = record.checksum { add(.checksum, checksum, for: "checksum") }
        for header in headers { add(.header, "\(header.name): \(header.value)", for: "headers") }
        if record.state?.value == .paused { add(.pause, "true", for: "paused") }
        add(record.limits, unless: plain.limits)
        add(record.choices, unless: plain.choices)
        add(record.destination)
        if case .set(let proxy) = record.access.proxy, proxy.form.credential == nil {
            add(.proxy, proxy.form.url, for: "proxy")
            if let hosts = proxy.form.noProxy, !hosts.isEmpty {
                add(.noProxy, hosts.joined(separator: ","), for: "proxy")
            }
        }
    }

    private mutating func add(_ limits: TaskSpecification.Limits, unless usual: TaskSpecification.Limits) {
        add(.receiveLimit, limits.maxReceiveRate, for: "max_recv_rate", unless: usual.maxReceiveRate) { "\($0)" }
        add(.sendLimit, limits.maxSendRate, for: "max_send_rate", unless: usual.maxSendRate) { "\($0)" }
        add(.maxTries, limits.maxRetries, for: "max_retries", unless: usual.maxRetries) { "\($0.addingSaturated(1))" }
        add(.split, limits.segments, for: "segments") { count in
            if case .exactly(let number) = count { "\(number)" } else { nil }
        }
    }

    private mutating func add(_ choices: TransferRequest.Choices, unless usual: TransferRequest.Choices) {
        // The format has whole seconds.
        func seconds(_ time: Double) -> String? { Int64(exactly: time).map { "\($0)" } }
        add(.timeout, choices.idleTimeout, for: "idle_timeout", unless: usual.idleTimeout, seconds)
        add(.connectTimeout, choices.connectTimeout, for: "connect_timeout", unless: usual.connectTimeout, seconds)
        add(.lowestSpeed, choices.minReceiveRate, for: "min_recv_rate", unless: usual.minReceiveRate) { "\($0)" }
    }

    private mutating func add(_ destination: Destination.Choices) {
        if case .set(true) = destination.usesRemoteTime { add(.remoteTime, "true", for: "remote_time") }
        guard case .set(let policy) = destination.onConflict else { return }
        switch policy {
        case .rename: carried.insert("on_conflict")
        case .overwrite: add(.allowOverwrite, "true", for: "on_conflict")
        case .fail: add(.autoFileRenaming, "false", for: "on_conflict")
        case .update: add(.conditionalGet, "true", for: "on_conflict")
        case .continue: add(.continuing, "true", for: "on_conflict")
        case .skip, .verify: break
        }
    }
}

extension TransferTask {
    /// The record of a task with the same id, owner and place that was added with only its URL.
    fileprivate static func plainDownload(_ record: TaskRecord) -> TaskRecord {
        let url = HTTPURL(scheme: .http, host: "localhost", port: 80, target: "/")
        let specification = TaskSpecification(
            owner: record.owner ?? Owner(uid: 0), request: TransferRequest(url: url),
            destination: Destination(directory: record.dir ?? "/"))
        return TaskRecord(
            TransferTask(
                id: record.id, specification: specification, state: .queued, rank: 0,
                createdAt: Timestamp(microseconds: 0)))
    }
}
