import StrictJSON
public import XferModel

/// What holds for a task where its fields say nothing.
public struct TaskDefaults: Hashable, Sendable {
    /// Absolute path of the directory for files.
    public var directory: String
    public var retry: RetryLimits
    public var timeouts: Timeouts

    public init(directory: String, retry: RetryLimits = RetryLimits(), timeouts: Timeouts = Timeouts()) {
        self.directory = directory
        self.retry = retry
        self.timeouts = timeouts
    }
}

/// From the wire to the model. No I/O: the URL's text has been parsed by whoever can.
extension NewTask {
    /// The whole specification. `url` is what `self.url` was parsed to, `urlCredential` its user info; a `credential`
    /// field wins over that.
    public func specification(
        owner: Owner, url: HTTPURL, urlCredential: Credential?, defaults: TaskDefaults
    ) -> TaskSpecification {
        TaskSpecification(
            owner: owner,
            request: request(url: url, urlCredential: urlCredential, timeouts: defaults.timeouts),
            destination: destination(defaultDirectory: defaults.directory),
            kind: kind ?? .download,
            checksum: checksum,
            retry: RetryLimits(
                maxRetries: maxRetries ?? defaults.retry.maxRetries, retryFor: retryFor ?? defaults.retry.retryFor),
            startsPaused: paused ?? false,
            priority: priority ?? .normal,
            group: group,
            label: label,
            clientKey: clientKey,
            maxReceiveRate: maxReceiveRate ?? 0,
            progressInterval: progressInterval ?? 0.5,
            resumesUnsafely: resume == .unsafe,
            meta: meta?.text,
            policy: policy)
    }

    /// What is sent to the server.
    public func request(url: HTTPURL, urlCredential: Credential?, timeouts: Timeouts) -> TransferRequest {
        TransferRequest(
            url: url,
            method: method ?? .get,
            headers: headers?.fields ?? [],
            credential: credential.map { Credential(user: $0.user, password: $0.password) } ?? urlCredential,
            redirect: redirect ?? .follow,
            allowsDowngrade: allowDowngrade ?? false,
            httpVersion: httpVersion ?? .automatic,
            timeouts: Timeouts(
                connect: connectTimeout ?? timeouts.connect, idle: idleTimeout ?? timeouts.idle,
                total: totalTimeout ?? timeouts.total),
            acceptedStatus: acceptStatus?.codes ?? 200...299)
    }

    /// The field that names the directory.
    public var directoryField: String { output?.contains("/") == true ? "output" : "dir" }

    /// Where the file goes.
    public func destination(defaultDirectory: String) -> Destination {
        let place = DestinationPath(directory: dir ?? defaultDirectory, output: output)
        return Destination(
            directory: place.directory,
            name: place.name,
            onConflict: onConflict ?? .rename,
            mode: mode?.bits,
            usesRemoteTime: remoteTime ?? false)
    }
}

/// `dir` and `output` put together: an absolute `output` names its own directory, a relative one lies below `dir`.
///
/// Text only: whether it stays below an allowed root is decided where the directory is opened.
public struct DestinationPath: Hashable, Sendable {
    public let directory: String
    /// Nil leaves the name to the server or the URL.
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
