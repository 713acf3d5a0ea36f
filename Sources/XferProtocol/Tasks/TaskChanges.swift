public import StrictJSON
public import XferModel

/// What `task.update` may change. `null` unsets where a field can be unset.
public struct TaskChanges: WireInput, Hashable {
    // In any unfinished state.
    public var priority: Priority?
    public var group = Patch<String>.unchanged
    public var label = Patch<String>.unchanged
    public var meta = Patch<JSONValue>.unchanged
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

    /// Some in any unfinished state, the others only while not running: see `ChoiceField.Change`.
    public var choices = TransferRequest.Choices()
    public var limits = TaskSpecification.Limits()

    public init() {}

    public static let summary = "Fields to change; null unsets where a field can be unset."

    public static let wireFields = WireFields<Self>(
        sections: [
            .optional("priority", \.priority, "Strict order of starting.")
                .restricted(to: .grantedPriority),
            .patch("group", \.group, "A name to select tasks by.", .length(1...TaskLimits.nameLength), .printable),
            .patch("label", \.label, "A text for people.", .length(1...TaskLimits.labelLength), .printable),
            .patch("meta", \.meta, "Any JSON of the client's own.", .encodedSize(TaskLimits.metaSize)),
        ], (TaskFields.retries + TaskFields.rates).fields(ofChanges: \.limits),
        TaskFields.conditions.fields(ofChanges: \.choices), TaskFields.progress.fields(ofChanges: \.limits),
        [
            .patch("not_before", \.notBefore, "It does not start before; null is at any time."),
            .patch("window", \.window, "It runs within these times only; null is at any time."),
            .patch("deadline", \.deadline, "It fails then unless it has ended or is staged; null is never."),
            .optional(
                "dir", \.dir, "Absolute path of the directory; only while not running.",
                .length(1...TaskLimits.pathLength), .printable, .absolutePath
            )
            .restricted(to: .ownFiles),
            .patch(
                "output", \.output, "The file's name or path; null leaves it to the server; only while not running.",
                .length(1...TaskLimits.pathLength), .printable, .fileName
            )
            .restricted(to: .ownFiles),
            .optional("on_conflict", \.onConflict, "If the name is taken; only while not running."),
            .patch("checksum", \.checksum, "The digest the bytes must have; null is none; only while not running."),
            .patch(
                "segments", \.segments,
                "How many parts of a download are fetched at the same time; null is download.segments; only while not running.",
                example: 4),
            .optional("headers", \.headers, "All header fields to send; only while not running.")
                .restricted(to: .noProfileSecrets),
            .patch("credential", \.credential, "Who the service claims to be; null is none; only while not running."),
        ], (TaskFields.request + TaskFields.caching).fields(ofChanges: \.choices),
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
            + (TaskFields.request + TaskFields.caching + TaskFields.conditions).namesRefusedWhileRunning()
            + (TaskFields.retries + TaskFields.rates + TaskFields.progress).namesRefusedWhileRunning()
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
        specification.apply(limits)
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
