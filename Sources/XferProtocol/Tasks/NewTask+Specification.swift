import StrictJSON
public import XferModel

/// The values for fields that a task leaves unset.
public struct TaskDefaults: Hashable, Sendable {
    /// Absolute path of the directory for files.
    public var directory: String
    public var retry: RetryLimits

    public init(directory: String, retry: RetryLimits = RetryLimits()) {
        self.directory = directory
        self.retry = retry
    }
}

/// Converts the task from the wire to the model, without I/O: URLs and paths are still text.
extension NewTask {
    /// The whole specification around the request that was made of `requestFields`.
    public func specification(
        owner: Owner, request: TransferRequest, defaults: TaskDefaults
    ) -> TaskSpecification {
        let kind = kind ?? .download
        var specification = TaskSpecification(
            owner: owner,
            request: request,
            destination: kind == .download ? destination(defaultDirectory: defaults.directory) : .none,
            kind: kind,
            checksum: checksum,
            retry: defaults.retry,
            startsPaused: paused ?? false,
            priority: priority ?? .normal,
            group: group,
            label: label,
            clientKey: clientKey,
            resumesUnsafely: resume == .unsafe,
            meta: meta?.text,
            policy: policy,
            profile: profile,
            upload: UploadOptions(
                uploadProtocol: upload ?? .plain, isSpooled: spool ?? false, chunkSize: chunkSize,
                createsWithContent: creationWithUpload == true ? true : nil, parts: uploadParts),
            response: ResponseHandling(parsers: parse ?? [], stripsNulls: stripNulls ?? false),
            slot: slot,
            coalesces: coalesce ?? true)
        specification.completion.apply(completion)
        specification.schedule.after = after?.map(\.id).unrepeated ?? []
        specification.schedule.apply(schedule)
        specification.apply(limits)
        // A part is neither kept nor taken from kept responses, whatever the profile says.
        if specification.request.range != nil { specification.request.caching = CachingOptions() }
        return specification
    }

    /// The fields of the request that were set.
    public var requestFields: RequestFields {
        var fields = RequestFields(kind: kind ?? .download)
        fields.profile = profile
        fields.method = method
        fields.headers = headers?.set.fields ?? []
        fields.unsetHeaders = headers?.unset ?? []
        fields.parameters = params?.parameters
        fields.content = content
        fields.uploadProtocol = upload ?? .plain
        fields.credential = access.credential.map(\.credential)
        fields.clientCertificate = access.clientCert.map(\.files)
        fields.usesCookies = access.cookies
        fields.cookies = access.cookieList.applied(to: nil)?.map(\.cookie) ?? []
        fields.proxy = access.proxy.map(\.settings)
        fields.choices = choices
        fields.cacheKey = cacheKey.map(\.rule)
        return fields
    }

    /// The whole request as text, independent of the order of objects' members. `retry_failed` describes the way of
    /// adding, not the task: it may differ.
    public var canonicalText: String {
        var asked = self
        asked.retryFailed = nil
        return asked.wire.sortingMembers.text
    }

    private var content: RequestContent? {
        if let source { return .file(FileReference(path: source, field: "source")) }
        if let parts { return .parts(parts.enumerated().map { $1.part(at: $0) }) }
        return body?.content
    }

    /// The URL that is requested first.
    public var firstURL: String { urls?.first ?? url ?? "" }
    /// The URLs that follow it, in order of preference.
    public var mirrors: [String] { Array(urls?.dropFirst() ?? []) }

    /// The field that contains the directory.
    public var directoryField: String { output?.contains("/") == true ? "output" : "dir" }

    /// The place of the file.
    public func destination(defaultDirectory: String) -> Destination {
        let place = DestinationPath(directory: dir ?? defaultDirectory, output: output)
        var destination = Destination(directory: place.directory, name: place.name)
        destination.apply(self.destination)
        return destination
    }
}

extension [TaskID] {
    /// The ids without repetitions, in the order of their first occurrences.
    var unrepeated: [TaskID] {
        var seen: Set<TaskID> = []
        return filter { seen.insert($0).inserted }
    }
}

extension JSONValue {
    /// The value with the members of all objects in the order of their names.
    var sortingMembers: JSONValue {
        switch self {
        case .object(let object):
            var sorted = JSONObject()
            for (name, value) in object.members.sorted(by: { $0.key < $1.key }) {
                sorted.append(newKey: name, value.sortingMembers)
            }
            return .object(sorted)
        case .array(let elements): return .array(elements.map(\.sortingMembers))
        default: return self
        }
    }
}

/// The combination of `dir` and `output`: an absolute `output` contains its own directory, a relative one is below
/// `dir`.
///
/// Text only: `DestinationDirectory` decides, when it opens the directory, if that is below an allowed root.
public struct DestinationPath: Hashable, Sendable {
    public let directory: String
    /// The file's name; nil leaves it to the server or the URL.
    public let name: String?

    public init(directory: String, output: String?) {
        guard let output else {
            self.directory = directory
            name = nil
            return
        }
        let path =
            output.hasPrefix("/") ? output : directory.hasSuffix("/") ? directory + output : "\(directory)/\(output)"
        let end = path.lastIndex(of: "/") ?? path.startIndex
        self.directory = end == path.startIndex ? "/" : String(path[..<end])
        name = String(path[path.index(after: end)...])
    }
}
