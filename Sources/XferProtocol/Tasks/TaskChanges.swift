public import StrictJSON
public import XferModel

/// The fields that `task.update` may change. `null` unsets where a field can be unset.
public struct TaskChanges: WireInput, Hashable {
    // In any unfinished state.
    public var priority: Priority?
    public var group = Patch<String>.unchanged
    public var label = Patch<String>.unchanged
    public var meta = Patch<JSONValue>.unchanged

    // Only while not running.
    public var dir: String?
    public var output = Patch<String>.unchanged
    public var checksum = Patch<Checksum>.unchanged
    public var headers: HeaderList?
    public var policy = Patch<String>.unchanged
    public var after = Patch<[TaskID]>.unchanged

    /// The fields that can be changed: some in any unfinished state, the others only while not running; see
    /// `ChoiceField.Change`.
    public var choices = TransferRequest.Choices()
    public var limits = TaskSpecification.Limits()
    public var destination = Destination.Choices()
    public var schedule = TaskSchedule.Choices()
    public var access = AccessChoices()

    public init() {}

    public static let summary = "Fields to change; null unsets a field that can be unset."

    public static let wireFields = WireFields<Self>(
        sections: [
            .optional("priority", \.priority, "Strict order of starting.")
                .restricted(to: .grantedPriority),
            .patch(
                "group", \.group, "A name by which tasks can be selected.", .length(1...TaskLimits.nameLength), .visible
            ),
            .patch("label", \.label, "Text for people.", .length(1...TaskLimits.labelLength), .visible),
            .patch("meta", \.meta, "Any JSON of the client's own.", .encodedSize(TaskLimits.metaSize)),
        ], (TaskFields.retries + TaskFields.rates).fields(ofChanges: \.limits),
        TaskFields.conditions.fields(ofChanges: \.choices), TaskFields.progress.fields(ofChanges: \.limits),
        TaskFields.schedule.fields(ofChanges: \.schedule),
        [
            .optional(
                "dir", \.dir, "Absolute path of the directory; only while the task is not running.",
                .length(1...TaskLimits.pathLength), .printable, .absolutePath
            )
            .restricted(to: .ownFiles),
            .patch(
                "output", \.output,
                "The file's name or path; null leaves it to the server; only while the task is not running.",
                .length(1...TaskLimits.pathLength), .printable, .fileName
            )
            .restricted(to: .ownFiles),
        ], TaskFields.destination.fields(ofChanges: \.destination),
        [
            .patch(
                "checksum", \.checksum,
                "The digest the bytes must have; null is none; only while the task is not running.")
        ], TaskFields.extent.fields(ofChanges: \.limits),
        [
            .optional("headers", \.headers, "All header fields to send; only while the task is not running.")
                .restricted(to: .noProfileSecrets)
        ], TaskFields.access.fields(ofChanges: \.access),
        (TaskFields.request + TaskFields.caching + TaskFields.connections).fields(ofChanges: \.choices),
        [
            .patch(
                "policy", \.policy,
                "A trust policy in addition to the host's own; null is none; only while the task is not running.",
                .length(1...64)),
            .patch(
                "after", \.after,
                "Tasks that have to complete before it starts; null is none; only while the task is not running.",
                .count(0...TaskLimits.dependencies)),
        ])

    public func validate() throws(WireError) {
        guard Self.wireFields.first(in: self, where: { _ in true }) != nil else {
            throw WireError(.missing, expected: "at least one field to change")
        }
    }

    /// The name of the first field that a running task refuses, nil when there is none.
    public var fieldRefusedWhileRunning: String? {
        let names =
            ["dir", "output", "checksum", "headers", "policy", "after"]
            + (TaskFields.request + TaskFields.caching + TaskFields.conditions + TaskFields.connections)
            .namesRefusedWhileRunning()
            + (TaskFields.retries + TaskFields.rates + TaskFields.progress + TaskFields.extent)
            .namesRefusedWhileRunning()
            + TaskFields.destination.namesRefusedWhileRunning() + TaskFields.schedule.namesRefusedWhileRunning()
            + TaskFields.access.namesRefusedWhileRunning()
        return Self.wireFields.first(in: self) { names.contains($0) }?.name
    }

    /// The field that contains the directory, if one does.
    public var directoryField: String {
        if case .set(let output) = output, output.contains("/") { "output" } else { "dir" }
    }

    /// The first of these fields that only downloads have; nil if there is none.
    public var fieldOfDownloads: String? {
        Self.wireFields.first(in: self) { NewTask.fieldsOfDownloads.contains($0) }?.name
    }

    /// True if a directory is named, be it the one the task has.
    public var namesDirectory: Bool {
        if case .set(let output) = output, output.contains("/") { return true }
        return dir != nil
    }

    /// Applies the changes to the specification.
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
        apply(to: &specification.destination)
        apply(to: &specification.request)
        specification.schedule.apply(schedule)
        specification.schedule.after =
            after.map(\.unrepeated).applied(to: specification.schedule.after) ?? []
    }

    private func apply(to destination: inout Destination) {
        destination.apply(self.destination)
        guard dir != nil || output.isChange else { return }
        let place = DestinationPath(
            directory: dir ?? destination.directory, output: output.applied(to: destination.name))
        destination.directory = place.directory
        destination.name = place.name
    }

    private func apply(to request: inout TransferRequest) {
        if let headers { request.headers = headers.fields }
        request.credential = access.credential.map(\.credential).applied(to: request.credential)
        if access.credential.isChange { request.usesProfileCredential = false }
        request.clientCertificate = access.clientCert.map(\.files).applied(to: request.clientCertificate)
        if access.clientCert.isChange { request.usesProfileCertificate = false }
        request.proxy = access.proxy.map(\.settings).applied(to: request.proxy)
        if access.cookieList.isChange {
            request.cookies = access.cookieList.applied(to: nil)?.map(\.cookie) ?? []
            if !request.cookies.isEmpty { request.usesCookies = false }
        }
        request.apply(choices)
    }
}
