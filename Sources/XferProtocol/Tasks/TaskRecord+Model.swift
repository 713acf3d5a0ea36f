import StrictJSON
public import XferModel

/// From the model to the wire, redacted.
extension TaskRecord {
    /// `progress` is the latest snapshot of a running task; without one the last checkpoint's numbers stand.
    /// `phase` is for a running task that has no snapshot yet. `resumable` is nil while nothing is known. `segments` are what
    /// is kept; a single one goes without saying.
    public init(
        _ task: TransferTask, progress: ProgressSnapshot? = nil, phase: TaskPhase? = nil, resumable: Bool? = nil,
        segments: [Segment] = []
    ) {
        self.init()
        id = task.id
        owner = task.owner
        state = OpenEnum(task.state)
        if task.state == .running { self.phase = (progress?.phase ?? phase).map { OpenEnum($0) } }
        wait = task.wait.map { WaitRecord($0) }
        batch = task.batchID
        error = task.error.map { FailureRecord($0, attempts: task.attempts) }
        self.progress =
            progress.map { ProgressRecord($0) }
            ?? ProgressRecord(received: task.received, sent: task.sent, total: task.total)
        self.resumable = resumable
        ranges = segments.count > 1 ? segments.map { SegmentRecord($0) } : nil
        attempts = task.attempts
        createdAt = task.createdAt
        startedAt = task.startedAt
        finishedAt = task.finishedAt
        show(task.specification)
        show(task.specification.request)
        if task.specification.kind == .download { show(task.specification.destination) }
        show(task.outcome)
    }

    private mutating func show(_ specification: TaskSpecification) {
        kind = OpenEnum(specification.kind)
        if !specification.mirrors.isEmpty { urls = specification.sources.map { Redaction.url($0.string) } }
        checksum = specification.checksum?.description
        priority = OpenEnum(specification.priority)
        group = specification.group
        label = specification.label
        clientKey = specification.clientKey
        slot = specification.slot
        let completion = specification.completion
        finalize = completion.finalize == .auto ? nil : OpenEnum(completion.finalize)
        (postProcess, onComplete, onError) = (completion.postProcess, completion.onComplete, completion.onError)
        coalesce = specification.coalesces ? nil : false
        show(specification.schedule)
        limits = specification.limits
        profile = specification.profile
        if specification.kind == .upload {
            upload = OpenEnum(specification.upload.uploadProtocol)
            source = specification.request.bodySummary?.path
        }
        spool = specification.upload.isSpooled ? true : nil
        parse = specification.response.parsers.isEmpty ? nil : specification.response.parsers.map { OpenEnum($0) }
        stripNulls = specification.response.stripsNulls ? true : nil
        if specification.kind == .download {
            segments = specification.segments
            resume = OpenEnum(specification.resumesUnsafely ? .unsafe : .auto)
        }
        policy = specification.policy
        // Stored as text that was JSON when the task was added.
        meta = specification.meta.flatMap { try? JSONValue(parsing: $0.utf8) }
    }

    private mutating func show(_ schedule: TaskSchedule) {
        after = schedule.after.isEmpty ? nil : schedule.after
        notBefore = schedule.notBefore
        window = schedule.window.map { WindowRecord($0) }
        deadline = schedule.deadline
    }

    private mutating func show(_ request: TransferRequest) {
        url = Redaction.url(request.url.string)
        method = request.method.rawValue
        headers = request.headers.isEmpty ? nil : HeaderList(request.headers).redacted
        choices = request.choices
        body = request.bodySummary.map { BodyRecord($0) }
        credential = request.credential.map { CredentialRecord(masking: $0) }
        clientCert = request.clientCertificate.map { ClientCertificateRecord($0) }
        cookies = request.usesCookies ? true : nil
        cacheKey = request.caching.key.map { CacheKeyInput(masking: $0) }
        proxy = request.proxy.map { ProxyRecord(masking: $0) }
    }

    private mutating func show(_ destination: Destination) {
        output = destination.name
        dir = destination.directory
        onConflict = OpenEnum(destination.onConflict)
        mode = destination.mode.flatMap { FileMode(bits: $0) }
        remoteTime = destination.usesRemoteTime
    }

    private mutating func show(_ outcome: TaskOutcome) {
        finalURL = outcome.finalURL.map { Redaction.url($0.string) }
        finalPath = outcome.finalPath
        httpStatus = outcome.httpStatus
        responseHeaders = outcome.responseHeaders.isEmpty ? nil : HeaderList(outcome.responseHeaders).redacted
        etag = outcome.etag
        contentEncoding = outcome.contentEncoding
        skipped = outcome.skipped ? true : nil
        notModified = outcome.notModified ? true : nil
    }
}
