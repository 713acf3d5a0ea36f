public import StrictJSON
public import XferModel

/// A task in answers: its fields and its results. Everything but `id` is present only if it was requested and is known.
/// Secrets are `***`.
public struct TaskRecord: WireRecord, Hashable {
    public var id = TaskID(0)
    public var owner: Owner?
    public var state: OpenEnum<TaskState>?
    public var phase: OpenEnum<TaskPhase>?
    public var wait: WaitRecord?
    public var error: FailureRecord?
    public var progress: ProgressRecord?
    public var resumable: Bool?
    public var transfer: TransferID?
    public var ranges: [SegmentRecord]?
    public var stagedFile: StagedFileRecord?
    public var discarded: DiscardRecord?
    public var fileSystem: FileSystemRecord?

    public var url: String?
    public var urls: [String]?
    public var kind: OpenEnum<TaskKind>?
    public var method: String?
    public var headers: HeaderList?
    public var body: BodyRecord?
    public var source: String?
    public var upload: OpenEnum<UploadProtocol>?
    public var spool: Bool?
    public var chunkSize: Int64?
    public var creationWithUpload: Bool?
    public var uploadParts: Int?
    public var output: String?
    public var dir: String?
    public var destination = Destination.Choices()
    public var checksum: String?
    public var priority: OpenEnum<Priority>?
    public var group: String?
    public var batch: BatchID?
    public var label: String?
    public var clientKey: String?
    public var slot: String?
    public var completion = TaskCompletion.Choices()
    public var coalesce: Bool?
    public var after: [TaskID]?
    public var schedule = TaskSchedule.Choices()
    public var limits = TaskSpecification.Limits()
    public var resume: OpenEnum<ResumeMode>?
    public var profile: String?
    public var choices = TransferRequest.Choices()
    public var parse: [OpenEnum<ResponseParser>]?
    public var stripNulls: Bool?
    public var access = AccessChoices()
    public var cacheKey: CacheKeyInput?
    public var policy: String?
    public var meta: JSONValue?

    public var finalURL: String?
    public var finalPath: String?
    public var httpStatus: Int?
    public var responseHeaders: HeaderList?
    public var etag: String?
    public var contentEncoding: String?
    public var lastAttempt: AttemptRecord?
    public var attempts: Int?
    public var skipped: Bool?
    public var notModified: Bool?
    public var warning: String?
    public var createdAt: Timestamp?
    public var startedAt: Timestamp?
    public var finishedAt: Timestamp?
    /// True if `PageText` has left out fields.
    public internal(set) var isAbridged: Bool?

    public init() {}

    public static let summary = "A task: what was asked for and what became of it."

    public static let wireFields = WireFields<Self>(
        sections: [
            .required("id", \.id, "Names the task; never reused."),
            .optional("owner", \.owner, "The uid of the process that added it."),
            .optional("state", \.state, "Where it stands."),
            .optional("phase", \.phase, "What a running task is doing."),
            .optional("wait", \.wait, "Why a waiting or queued task cannot start now."),
            .optional("error", \.error, "Why it failed; of a task waiting for a retry: why its last try failed."),
            .optional("progress", \.progress, "How far it is."),
            .optional(
                "resumable", \.resumable, "Whether what is held can be continued after a break, as far as is known."),
            .optional(
                "transfer", \.transfer,
                "What fetches its bytes, once it has started; tasks with the same one share a request. task.get gives it, listings only when asked."
            ),
            .optional(
                "ranges", \.ranges,
                "Of a download in segments what is kept of each, ascending; what lies between them is missing. Only when asked for by task.get."
            ),
            .optional(
                "staged_file", \.stagedFile,
                "Of a staged task the file that waits for its name. Only when asked for by task.get."
            ),
            .optional(
                "discarded", \.discarded,
                "The last time that received bytes of this download were discarded, as long as the event is kept. task.get gives it, listings only when asked."
            ),
            .optional(
                "file_system", \.fileSystem,
                "The file system of its directory, if xferd has used it. task.get gives it, listings only when asked."),
            .optional("url", \.url, "What is fetched, the first of urls; secrets in it are ***."),
            .optional(
                "urls", \.urls,
                "Mirrors of the same bytes in order of preference, if there are any; final_url tells which one was asked last."
            ),
            .optional("kind", \.kind, "What is done with the bytes."),
            .optional("method", \.method, "The request's method."),
            .optional("headers", \.headers, "Header fields the client and the profile set; secrets in them are ***."),
            .optional("body", \.body, "What is sent."),
            .optional("source", \.source, "The file that is uploaded."),
            .optional("upload", \.upload, "What is spoken about an upload's offset."),
            .optional("spool", \.spool, "Whether the files that are sent are copied first."),
            .optional(
                "chunk_size", \.chunkSize, "The most bytes of one request of an upload; absent is upload.chunk_size."),
            .optional(
                "creation_with_upload", \.creationWithUpload,
                "True when the request that creates an upload brings its first bytes."),
            .optional(
                "upload_parts", \.uploadParts, "The parts in which an upload is sent at the same time; absent is one."),
            .optional("output", \.output, "The file's name that was asked for."),
            .optional("dir", \.dir, "Absolute path of the directory the file goes to."),
        ], TaskFields.destination.fields(ofRecord: \.destination),
        [
            .optional("checksum", \.checksum, "The digest that the bytes must have."),
            .optional("priority", \.priority, "Strict order of starting."),
            .optional("group", \.group, "The owner's group it is in."),
            .optional("batch", \.batch, "The batch it was added with."),
            .optional("label", \.label, "A text for people."),
            .optional("client_key", \.clientKey, "What makes adding it safe to repeat."),
            .optional("slot", \.slot, "The slot it was added to; it is in it until it ends."),
        ], TaskFields.completion.fields(ofRecord: \.completion),
        [
            .optional("coalesce", \.coalesce, "False when it shares its request with no other task."),
            .optional("after", \.after, "Tasks that have to complete before it starts."),
        ], TaskFields.schedule.fields(ofRecord: \.schedule),
        (TaskFields.retries + TaskFields.rates + TaskFields.extent).fields(ofRecord: \.limits),
        [
            .optional("resume", \.resume, "Whether kept bytes may be continued without a validator."),
            .optional("profile", \.profile, "Whose defaults it took over."),
        ], TaskFields.request.fields(ofRecord: \.choices),
        [
            .optional("parse", \.parse, "What task.result makes of the response."),
            .optional("strip_nulls", \.stripNulls, "Whether null members are left out of that."),
        ], TaskFields.access.fields(ofRecord: \.access), TaskFields.caching.fields(ofRecord: \.choices),
        [
            .optional("cache_key", \.cacheKey, "What stands for the URL in the cache.")
        ], (TaskFields.conditions + TaskFields.connections).fields(ofRecord: \.choices),
        TaskFields.progress.fields(ofRecord: \.limits),
        [
            .optional("policy", \.policy, "A trust policy that has to accept besides the host's own."),
            .optional("meta", \.meta, "The client's own JSON."),
            .optional("final_url", \.finalURL, "Where the bytes came from after redirects; secrets in it are ***."),
            .optional("final_path", \.finalPath, "Absolute path of the published file."),
            .optional("http_status", \.httpStatus, "The last final response's status."),
            .optional(
                "response_headers", \.responseHeaders,
                "The last final response's header fields; only when asked for by task.get."),
            .optional("etag", \.etag, "The source's entity tag."),
            .optional("content_encoding", \.contentEncoding, "The coding the bytes were kept in, if not identity."),
            .optional(
                "last_attempt", \.lastAttempt,
                "How its last attempt went: address, protocol, times. task.get gives it, listings only when asked."),
            .optional("attempts", \.attempts, "Tries so far that count against max_retries."),
            .optional("skipped", \.skipped, "True when on_conflict skip, or verify, found the name taken."),
            .optional("not_modified", \.notModified, "True when on_conflict update found the file current."),
            .optional(
                "warning", \.warning,
                "What is odd about a completed download, in English: a web page came under a name that no page has."),
            .optional("created_at", \.createdAt, "When it was added."),
            .optional("started_at", \.startedAt, "When its first try began."),
            .optional("finished_at", \.finishedAt, "When its last run ended."),
            .optional(
                "abridged", \.isAbridged,
                "True in a list if the task is longer than 3 MiB: only short fields are given; task.get with fields gives others."
            ),
        ])
}

/// The file of a staged task: by these facts it is known again under another name, and on other machines that share its
/// storage.
public struct StagedFileRecord: WireRecord, Hashable {
    public var path = ""
    public var name = ""
    public var inode = ""
    public var size: Int64 = 0
    public var modifiedAt = ""
    public var checksum: String?

    public init() {}

    /// Creates the record, or returns nil while a hook works on the file.
    public init?(_ ready: ReadyFile, inDirectory directory: String) {
        guard let facts = ready.facts else { return nil }
        path = directory == "/" ? "/\(ready.name)" : "\(directory)/\(ready.name)"
        name = ready.finalName
        inode = String(facts.identity.inode)
        size = facts.length
        modifiedAt = String(facts.modifiedAt)
        checksum = ready.digest?.description
    }

    public static let summary = "The whole, verified file of a staged task."
    public static let wireFields: WireFields<Self> = [
        .required("path", \.path, "Absolute path of the file as it is now."),
        .required("name", \.name, "The name it gets, unless on_conflict chooses another one."),
        .required("inode", \.inode, "Its inode number, in decimal digits."),
        .required("size", \.size, "Its length in bytes."),
        .required(
            "modified_at", \.modifiedAt, "When it was written last, in nanoseconds since 1970, in decimal digits."),
        .optional("checksum", \.checksum, "Its digest, if one was computed."),
    ]
}

/// The time and reason of discarding received bytes of a download.
public struct DiscardRecord: WireRecord, Hashable {
    public var at = Timestamp(microseconds: 0)
    public var bytes: Int64 = 0
    public var reason = ""

    public init() {}

    /// Creates the record, or returns nil if the event is about something else.
    public init?(_ event: Event) {
        switch event.payload {
        case .taskSourceChanged(let reason, let dropped), .taskBytesDiscarded(let reason, let dropped):
            self.reason = reason
            bytes = dropped
            at = event.time
        default: return nil
        }
    }

    public static let summary = "When and why received bytes of a download were discarded."
    public static let wireFields: WireFields<Self> = [
        .required("at", \.at, "When."),
        .required("bytes", \.bytes, "How many bytes."),
        .required("reason", \.reason, "Why they could not be used."),
    ]
}

/// The progress of a task.
public struct ProgressRecord: WireRecord, Hashable {
    public var received: Int64 = 0
    public var sent: Int64 = 0
    public var total: Int64?
    public var rate: Int64 = 0
    public var eta: Int64?

    public init() {}

    public init(received: Int64, sent: Int64 = 0, total: Int64?, rate: Int64 = 0, eta: Int64? = nil) {
        self.received = received
        self.sent = sent
        self.total = total
        self.rate = rate
        self.eta = eta
    }

    public init(_ snapshot: ProgressSnapshot) {
        self.init(
            received: snapshot.received, sent: snapshot.sent, total: snapshot.total, rate: snapshot.rate,
            eta: snapshot.eta)
    }

    public static let summary = "How far a task is."
    public static let wireFields: WireFields<Self> = [
        .required("received", \.received, "Bytes held so far, those kept from earlier tries included."),
        .required("sent", \.sent, "Bytes sent."),
        .nullable("total", \.total, "Complete length in bytes; null while unknown."),
        .required("rate", \.rate, "Bytes per second over the last seconds."),
        .nullable("eta", \.eta, "Seconds until the end at that rate; null while unknown."),
    ]
}

/// The reason why a waiting task cannot start now, with its end if that is known. Queued and running tasks have one,
/// too, while the database cannot be written: `storage`.
public struct WaitRecord: WireRecord, Hashable {
    public var reason = OpenEnum(WaitReason.retry)
    public var until: Timestamp?
    public var detail: String?
    public var url: String?
    public var limit: Int?

    public init() {}

    public init(_ wait: Wait) {
        reason = OpenEnum(wait.reason)
        until = wait.until
        url = wait.url
        limit = wait.limit
    }

    public static let summary =
        "Why a waiting task cannot start now; of a queued one, that its host is not asked for a while; of a queued or "
        + "running one, that the database cannot be written."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "What it waits for."),
        .optional("until", \.until, "When it goes on by itself, if that is known."),
        .optional("detail", \.detail, "In a fleet: why every node that could take it has declined it, in English."),
        .optional(
            "url", \.url,
            "Of host_cooldown, the URL whose answer set it, with its secrets masked; absent if it is another user's."),
        .optional("limit", \.limit, "Transfers that the host may have at once now; with host_full."),
    ]
}

/// A part of a download that is fetched by itself.
public struct SegmentRecord: WireRecord, Hashable {
    public var start: Int64 = 0
    public var end: Int64?
    public var committed: Int64 = 0

    public init() {}

    public init(_ segment: Segment) {
        start = segment.start
        end = segment.end
        committed = segment.committed
    }

    public static let summary = "A range of a download's bytes and how far it is durable."
    public static let wireFields: WireFields<Self> = [
        .required("start", \.start, "Its first byte's offset."),
        .nullable("end", \.end, "The first offset after it; null is the end of the whole."),
        .required("committed", \.committed, "The first offset that is not durable."),
    ]
}
