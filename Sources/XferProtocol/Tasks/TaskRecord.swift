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
    public var digest: String?

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

    public static let summary = "A task: its request and its result."

    public static let wireFields = WireFields<Self>(
        sections: [
            .required("id", \.id, "Identifies the task; never reused."),
            .optional("owner", \.owner, "The uid of the process that added it."),
            .optional("state", \.state, "State of the task."),
            .optional("phase", \.phase, "Present step of a running task."),
            .optional("wait", \.wait, "Reason why a waiting or queued task cannot start now."),
            .optional(
                "error", \.error,
                "Error with which it failed, or the error of the last attempt if it waits for a retry."),
            .optional("progress", \.progress, "Progress of the task."),
            .optional(
                "resumable", \.resumable,
                "True if the received bytes can be continued after an interruption, as far as xferd knows."),
            .optional(
                "transfer", \.transfer,
                "The transfer that fetches its bytes, once it has started; tasks with the same transfer share a request. task.get returns it, listings only if it is in fields."
            ),
            .optional(
                "ranges", \.ranges,
                "For a download in segments: the kept bytes of each, ascending; the bytes between them are missing. Only in task.get, if it is in fields."
            ),
            .optional(
                "staged_file", \.stagedFile,
                "For a staged task: the file that waits for its name. Only in task.get, if it is in fields."
            ),
            .optional(
                "discarded", \.discarded,
                "The last time that received bytes of this download were discarded, as long as the event is stored. task.get returns it, listings only if it is in fields."
            ),
            .optional(
                "file_system", \.fileSystem,
                "File system of its directory, if the daemon has used it. task.get returns it, listings only if it is in fields."
            ),
            .optional(
                "digest", \.digest,
                "Digest of the published file: the one that was verified, or that task.record_digest recorded. task.get returns it, listings only if it is in fields."
            ),
            .optional("url", \.url, "The requested URL, the first of urls; secrets in it are ***."),
            .optional(
                "urls", \.urls,
                "Mirrors of the same bytes in order of preference, if there are any; final_url is the one that was used last."
            ),
            .optional("kind", \.kind, "Kind of the task."),
            .optional("method", \.method, "The request's method."),
            .optional("headers", \.headers, "Header fields the client and the profile set; secrets in them are ***."),
            .optional("body", \.body, "Content of the request."),
            .optional("source", \.source, "The file that is uploaded."),
            .optional("upload", \.upload, "Protocol of the upload."),
            .optional("spool", \.spool, "True if files are copied before they are sent."),
            .optional(
                "chunk_size", \.chunkSize, "Largest request of the upload in bytes; absent is upload.chunk_size."),
            .optional(
                "creation_with_upload", \.creationWithUpload,
                "True if the request that creates an upload contains its first bytes."),
            .optional(
                "upload_parts", \.uploadParts,
                "Number of parts of an upload that are sent at the same time; absent is one."),
            .optional("output", \.output, "The requested name of the file."),
            .optional("dir", \.dir, "Absolute path of the file's directory."),
        ], TaskFields.destination.fields(ofRecord: \.destination),
        [
            .optional("checksum", \.checksum, "The digest that the bytes must have."),
            .optional("priority", \.priority, "Strict order of starting."),
            .optional("group", \.group, "The owner's group to which it belongs."),
            .optional("batch", \.batch, "The batch it was added with."),
            .optional("label", \.label, "Text for people."),
            .optional("client_key", \.clientKey, "Key that makes the add safe to repeat."),
            .optional("slot", \.slot, "The slot to which it was added; it occupies the slot until it ends."),
        ], TaskFields.completion.fields(ofRecord: \.completion),
        [
            .optional("coalesce", \.coalesce, "False if it does not share its request with other tasks."),
            .optional("after", \.after, "Tasks that have to complete before it starts."),
        ], TaskFields.schedule.fields(ofRecord: \.schedule),
        (TaskFields.retries + TaskFields.rates + TaskFields.extent).fields(ofRecord: \.limits),
        [
            .optional(
                "resume", \.resume, "Resume of kept bytes without a validator: auto starts over, unsafe continues."),
            .optional("profile", \.profile, "Profile from which it got defaults."),
        ], TaskFields.request.fields(ofRecord: \.choices),
        [
            .optional("parse", \.parse, "Parsers of the response for task.result."),
            .optional("strip_nulls", \.stripNulls, "True if null members are removed from the parsed response."),
        ], TaskFields.access.fields(ofRecord: \.access), TaskFields.caching.fields(ofRecord: \.choices),
        [
            .optional("cache_key", \.cacheKey, "Key of the URL in the cache.")
        ], (TaskFields.conditions + TaskFields.connections).fields(ofRecord: \.choices),
        TaskFields.progress.fields(ofRecord: \.limits),
        [
            .optional("policy", \.policy, "A trust policy that must accept the server in addition to the host's own."),
            .optional("meta", \.meta, "The client's own JSON."),
            .optional("final_url", \.finalURL, "URL from which the bytes came after redirects; secrets in it are ***."),
            .optional("final_path", \.finalPath, "Absolute path of the published file."),
            .optional("http_status", \.httpStatus, "Status of the last final response."),
            .optional(
                "response_headers", \.responseHeaders,
                "Header fields of the last final response. Only in task.get, if it is in fields."),
            .optional("etag", \.etag, "The source's entity tag."),
            .optional("content_encoding", \.contentEncoding, "Content coding of the stored bytes, if not identity."),
            .optional(
                "last_attempt", \.lastAttempt,
                "Address, protocol and times of its last attempt. task.get returns it, listings only if it is in fields."
            ),
            .optional("attempts", \.attempts, "Attempts so far that count against max_retries."),
            .optional("skipped", \.skipped, "True if the name was taken and on_conflict is skip or verify."),
            .optional("not_modified", \.notModified, "True if on_conflict is update and the file was current."),
            .optional(
                "warning", \.warning,
                "Warning about a completed download, in English: the file is a web page, but its name does not suggest one."
            ),
            .optional("created_at", \.createdAt, "Time at which the task was added."),
            .optional("started_at", \.startedAt, "Start of its first attempt."),
            .optional("finished_at", \.finishedAt, "End of its last run."),
            .optional(
                "abridged", \.isAbridged,
                "True in a list if the task is longer than 3 MiB: only short fields are returned; task.get with fields returns others."
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

    public static let summary = "The complete, verified file of a staged task."
    public static let wireFields: WireFields<Self> = [
        .required("path", \.path, "Present absolute path of the file."),
        .required("name", \.name, "The name it gets, unless on_conflict chooses another one."),
        .required("inode", \.inode, "Its inode number, in decimal digits."),
        .required("size", \.size, "Its length in bytes."),
        .required(
            "modified_at", \.modifiedAt, "Time of its last change, in nanoseconds since 1970, in decimal digits."),
        .optional("checksum", \.checksum, "Digest of the file, if one was computed."),
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

    public static let summary = "Last discard of received bytes of a download: its time and reason."
    public static let wireFields: WireFields<Self> = [
        .required("at", \.at, "Time at which the bytes were discarded."),
        .required("bytes", \.bytes, "Number of discarded bytes."),
        .required("reason", \.reason, "Reason why they could not be used."),
    ]
}

/// The progress of a task.
public struct ProgressRecord: WireRecord, Hashable {
    public var received: Int64 = 0
    public var sent: Int64 = 0
    public var total: Int64?
    public var rate: Int64 = 0
    public var eta: Int64?
    public var connections: Int64?

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
        connections = snapshot.connections > 0 ? Int64(clamping: snapshot.connections) : nil
    }

    public static let summary = "Progress of a task."
    public static let wireFields: WireFields<Self> = [
        .required("received", \.received, "Bytes received so far, including those kept from earlier attempts."),
        .required("sent", \.sent, "Bytes sent."),
        .nullable("total", \.total, "Complete length in bytes; null while unknown."),
        .required("rate", \.rate, "Bytes per second over the last seconds."),
        .nullable("eta", \.eta, "Seconds until the end at that rate; null while unknown."),
        .optional(
            "connections", \.connections,
            "Requests in progress; more than one for a transfer in segments or parts, absent if there are none."),
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
        "Reason why a waiting task cannot start now. For a queued task: its host's cooldown. For a queued or "
        + "running task: the database cannot be written."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "Reason of the wait."),
        .optional("until", \.until, "Time at which it continues automatically, if known."),
        .optional(
            "detail", \.detail,
            "In a fleet: the reason why every node that could claim it has declined it; with the reason storage: what "
                + "is wrong with the database; in English."),
        .optional(
            "url", \.url,
            "For host_cooldown: the URL whose answer caused it, with its secrets masked; absent if it is another user's."
        ),
        .optional("limit", \.limit, "Present limit of the host's transfers; only with the reason host_full."),
    ]
}

/// A part of a download that is fetched separately.
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

    public static let summary = "A range of a download's bytes and its durable part."
    public static let wireFields: WireFields<Self> = [
        .required("start", \.start, "Offset of its first byte."),
        .nullable("end", \.end, "The first offset after it; null is the end of the file."),
        .required("committed", \.committed, "The first offset that is not durable."),
    ]
}
