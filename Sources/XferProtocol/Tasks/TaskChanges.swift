public import StrictJSON
public import XferModel

/// What `task.update` may change. `null` unsets where a field can be unset.
@dynamicMemberLookup
public struct TaskChanges: WireInput, Hashable {
    // In any unfinished state.
    public var priority: Priority?
    public var group = Patch<String>.unchanged
    public var label = Patch<String>.unchanged
    public var meta = Patch<JSONValue>.unchanged
    public var maxRetries = Patch<Int>.unchanged
    public var retryFor: Int64?
    public var retryNonIdempotent: Bool?
    public var maxReceiveRate: Int64?
    public var maxSendRate: Int64?
    public var progressInterval: Double?
    public var notBefore = Patch<Timestamp>.unchanged
    public var window = Patch<WindowRecord>.unchanged
    public var deadline = Patch<Timestamp>.unchanged

    // Only while not running.
    public var dir: String?
    public var output = Patch<String>.unchanged
    public var onConflict: ConflictPolicy?
    public var checksum = Patch<Checksum>.unchanged
    public var segments = Patch<SegmentCount>.unchanged
    public var headers: HeaderList?
    public var credential = Patch<CredentialRecord>.unchanged
    public var policy = Patch<String>.unchanged
    public var after = Patch<[TaskID]>.unchanged

    /// Some in any unfinished state, the others only while not running: see `RequestChoiceField.Change`.
    public var choices = TransferRequest.Choices()

    public init() {}

    public subscript<Value>(
        dynamicMember choice: WritableKeyPath<TransferRequest.Choices, Patch<Value>>
    ) -> Value? {
        get { choices[keyPath: choice].applied(to: nil) }
        set { choices[keyPath: choice] = newValue.map { .set($0) } ?? .unchanged }
    }

    public static let summary = "Fields to change; null unsets where a field can be unset."

    public static let wireFields = WireFields<Self>(
        sections: [
            .optional("priority", \.priority, "Strict order of starting."),
            .patch("group", \.group, "A name to select tasks by.", .length(1...TaskLimits.nameLength), .printable),
            .patch("label", \.label, "A text for people.", .length(1...TaskLimits.labelLength), .printable),
            .patch("meta", \.meta, "Any JSON of the client's own.", .encodedSize(TaskLimits.metaSize)),
            .patch("max_retries", \.maxRetries, "Tries after the first; null is unlimited.", .range(0...1_000_000)),
            .optional(
                "retry_for", \.retryFor,
                "Seconds without progress for which it is tried again; pauses and other waits do not count.",
                .range(0...TaskLimits.longestWait)),
            .optional(
                "retry_non_idempotent", \.retryNonIdempotent,
                "Whether a request that is not idempotent is sent again after a failure."),
            .optional(
                "max_recv_rate", \.maxReceiveRate, "Bytes per second it may receive; 0 is unlimited.",
                .range(0...TaskLimits.highestRate)),
            .optional(
                "max_send_rate", \.maxSendRate, "Bytes per second it may send; 0 is unlimited.",
                .range(0...TaskLimits.highestRate)),
        ], RequestChoiceField.conditions.fields(ofChanges: \.choices),
        [
            .optional(
                "progress_interval", \.progressInterval, "Least seconds between two task.progress.",
                .number(0.1...3600)),
            .patch("not_before", \.notBefore, "It does not start before; null is at any time."),
            .patch("window", \.window, "It runs within these times only; null is at any time."),
            .patch("deadline", \.deadline, "It fails then unless it has ended or is staged; null is never."),
            .optional(
                "dir", \.dir, "Absolute path of the directory; only while not running.",
                .length(1...TaskLimits.pathLength), .printable, .absolutePath),
            .patch(
                "output", \.output, "The file's name or path; null leaves it to the server; only while not running.",
                .length(1...TaskLimits.pathLength), .printable, .fileName),
            .optional("on_conflict", \.onConflict, "If the name is taken; only while not running."),
            .patch("checksum", \.checksum, "The digest the bytes must have; null is none; only while not running."),
            .patch(
                "segments", \.segments,
                "How many parts of a download are fetched at the same time; null is download.segments; only while not running.",
                example: 4),
            .optional("headers", \.headers, "All header fields to send; only while not running."),
            .patch("credential", \.credential, "Who the service claims to be; null is none; only while not running."),
        ], RequestChoiceField.request.fields(ofChanges: \.choices),
        [
            .patch(
                "policy", \.policy, "A trust policy besides the host's own; null is none; only while not running.",
                .length(1...64)),
            .patch(
                "after", \.after, "Tasks that have to complete before it starts; null is none; only while not running.",
                .count(0...TaskLimits.dependencies)),
        ])

    public func validate() throws(WireError) {
        guard Self.wireFields.contains(where: { $0.encode(self) != nil }) else {
            throw WireError(.missing, expected: "at least one field to change")
        }
    }

    /// The first named field that a running task refuses, nil when there is none.
    public var fieldRefusedWhileRunning: String? {
        let names =
            ["dir", "output", "on_conflict", "checksum", "segments", "headers", "credential", "policy", "after"]
            + RequestChoiceField.refusedWhileRunning
        return Self.wireFields.first { names.contains($0.name) && $0.encode(self) != nil }?.name
    }

    /// The field that names the directory, where one does.
    public var directoryField: String {
        if case .set(let output) = output, output.contains("/") { "output" } else { "dir" }
    }

    /// Whether a directory is named, be it the one the task has.
    public var namesDirectory: Bool {
        if case .set(let output) = output, output.contains("/") { return true }
        return dir != nil
    }

    /// Applies the changes to what was asked for.
    public func apply(to specification: inout TaskSpecification) {
        if let priority { specification.priority = priority }
        specification.group = group.applied(to: specification.group)
        specification.label = label.applied(to: specification.label)
        switch meta {
        case .unchanged: break
        case .clear: specification.meta = nil
        case .set(let value): specification.meta = value.text
        }
        specification.retry.maxRetries = maxRetries.applied(to: specification.retry.maxRetries)
        if let retryFor { specification.retry.retryFor = retryFor }
        if let maxReceiveRate { specification.maxReceiveRate = maxReceiveRate }
        if let maxSendRate { specification.maxSendRate = maxSendRate }
        if let retryNonIdempotent { specification.retriesNonIdempotent = retryNonIdempotent }
        if let progressInterval { specification.progressInterval = progressInterval }
        specification.policy = policy.applied(to: specification.policy)
        specification.checksum = checksum.applied(to: specification.checksum)
        specification.segments = segments.applied(to: specification.segments)
        apply(to: &specification.destination)
        apply(to: &specification.request)
        apply(to: &specification.schedule)
    }

    private func apply(to schedule: inout TaskSchedule) {
        schedule.notBefore = notBefore.applied(to: schedule.notBefore)
        schedule.window = window.map(\.window).applied(to: schedule.window)
        schedule.deadline = deadline.applied(to: schedule.deadline)
        schedule.after = after.map(\.unrepeated).applied(to: schedule.after) ?? []
    }

    private func apply(to destination: inout Destination) {
        if let onConflict { destination.onConflict = onConflict }
        guard dir != nil || output.isChange else { return }
        let place = DestinationPath(
            directory: dir ?? destination.directory, output: output.applied(to: destination.name))
        destination.directory = place.directory
        destination.name = place.name
    }

    private func apply(to request: inout TransferRequest) {
        if let headers { request.headers = headers.fields }
        request.credential = credential.map(\.credential).applied(to: request.credential)
        if credential.isChange { request.usesProfileCredential = false }
        request.apply(choices)
    }
}
