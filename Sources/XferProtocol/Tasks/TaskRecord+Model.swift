import StrictJSON
public import XferModel

/// The conversion from the model to the wire, redacted.
extension TaskRecord {
    /// Creates the record. `progress` is the latest snapshot of a running task; without one the last checkpoint's
    /// numbers are used. `phase` is for a running task that has no snapshot yet. `resumable` is nil if it is unknown.
    /// `segments` are the kept parts; a single one is left out.
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
        transfer = task.transferID
        ranges = segments.count > 1 ? segments.map { SegmentRecord($0) } : nil
        attempts = task.attempts
        createdAt = task.createdAt
        startedAt = task.startedAt
        finishedAt = task.finishedAt
        show(task.specification)
        show(task.specification.request)
        if task.specification.kind == .download { show(task.specification.destination) }
        show(task.outcome)
        warning = task.warning
    }

    /// Replaces the record's URLs and header fields by those with their secrets.
    public mutating func reveal(_ specification: TaskSpecification) {
        if url != nil { url = specification.request.url.string }
        if urls != nil { urls = specification.sources.map(\.string) }
        if headers != nil { headers = HeaderList(specification.request.headers) }
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
        specification.completion.show(in: &completion)
        coalesce = specification.coalesces ? nil : false
        after = specification.schedule.after.isEmpty ? nil : specification.schedule.after
        specification.schedule.show(in: &schedule)
        specification.show(in: &limits)
        if specification.kind != .download { limits.segments = .unchanged }
        profile = specification.profile
        if specification.kind == .upload {
            upload = OpenEnum(specification.upload.uploadProtocol)
            source = specification.request.bodySummary?.path
        }
        spool = specification.upload.isSpooled ? true : nil
        chunkSize = specification.upload.chunkSize
        creationWithUpload = specification.upload.createsWithContent
        uploadParts = specification.upload.parts
        parse = specification.response.parsers.isEmpty ? nil : specification.response.parsers.map { OpenEnum($0) }
        stripNulls = specification.response.stripsNulls ? true : nil
        if specification.kind == .download {
            resume = OpenEnum(specification.resumesUnsafely ? .unsafe : .auto)
        }
        policy = specification.policy
        // Stored as text that was JSON when the task was added.
        meta = specification.meta.flatMap { try? JSONValue(parsing: $0.utf8) }
    }

    private mutating func show(_ request: TransferRequest) {
        url = Redaction.url(request.url.string)
        method = request.method.rawValue
        headers = request.headers.isEmpty ? nil : HeaderList(request.headers).redacted
        choices = request.choices
        body = request.bodySummary.map { BodyRecord($0) }
        access = AccessChoices(masking: request)
        cacheKey = request.caching.key.map { CacheKeyInput(masking: $0) }
    }

    private mutating func show(_ destination: Destination) {
        output = destination.name
        dir = destination.directory
        destination.show(in: &self.destination)
    }

    private mutating func show(_ outcome: TaskOutcome) {
        finalURL = outcome.finalURL.map { Redaction.url($0.string) }
        finalPath = outcome.finalPath
        httpStatus = outcome.httpStatus
        responseHeaders = outcome.responseHeaders.isEmpty ? nil : HeaderList(outcome.responseHeaders).redacted
        lastAttempt = outcome.lastAttempt.map { AttemptRecord($0) }
        etag = outcome.etag
        contentEncoding = outcome.contentEncoding
        skipped = outcome.skipped ? true : nil
        notModified = outcome.notModified ? true : nil
    }
}
