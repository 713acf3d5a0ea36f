public import StrictJSON
public import XferModel

/// A task's fields in a call of `task.add`. All fields except `url`, or `urls` instead, are optional.
public struct NewTask: WireInput, Hashable {
    public var url: String?
    public var urls: [String]?
    public var kind: TaskKind?
    public var method: HTTPMethod?
    public var headers: HeaderChanges?
    public var params: JSONObject?
    public var body: BodyInput?
    public var parts: [PartInput]?
    public var source: String?
    public var upload: UploadProtocol?
    public var spool: Bool?
    public var chunkSize: Int64?
    public var creationWithUpload: Bool?
    public var uploadParts: Int?
    public var output: String?
    public var dir: String?
    public var destination = Destination.Choices()
    public var checksum: Checksum?
    public var priority: Priority?
    public var group: String?
    public var label: String?
    public var clientKey: String?
    public var owner: String?
    public var slot: String?
    public var completion = TaskCompletion.Choices()
    public var coalesce: Bool?
    public var paused: Bool?
    public var after: [TaskReference]?
    public var schedule = TaskSchedule.Choices()
    public var limits = TaskSpecification.Limits()
    public var retryFailed: Bool?
    public var resume: ResumeMode?
    public var profile: String?
    public var choices = TransferRequest.Choices()
    public var parse: [ResponseParser]?
    public var stripNulls: Bool?
    public var access = AccessChoices()
    public var cacheKey = Patch<CacheKeyInput>.unchanged
    public var policy: String?
    public var meta: JSONValue?

    public init() {}
    public init(url: String) { self.url = url }

    public static let summary = "A new task: its request, its destination and its options."

    public static let wireFields = WireFields<Self>(
        sections: [
            .optional(
                "url", \.url,
                "URL to request: an absolute http or https URL, or one relative to the profile's base_url.",
                .length(1...TaskLimits.urlLength),
                example: "https://deb.debian.org/debian/README"),
            .optional(
                "urls", \.urls,
                "In place of url, for downloads and data tasks with GET: mirrors of the same bytes, in order of preference. Fields that "
                    + "are bound to an origin (credential, client_cert, secret header fields) apply to the first one.",
                .count(2...TaskLimits.urls),
                example: ["https://deb.debian.org/debian/README", "https://ftp.debian.org/debian/README"]),
            .optional(
                "kind", \.kind,
                "download: the response is written to a file. data: it is stored for task.result. upload: like data, and source, body or parts "
                    + "are sent. Default download."),
            .optional(
                "method", \.method,
                "Any method except CONNECT and TRACE; for downloads, one of GET, POST, PUT, PATCH and DELETE. Default GET; POST "
                    + "if there is content, PUT for a plain upload of a file."),
            .optional(
                "headers", \.headers,
                "Header fields to send; those that framing and resuming depend on (Range, Content-Length, …) are refused. "
                    + "null removes the profile's field.",
                example: ["Accept": "application/octet-stream"]
            )
            .restricted(to: .noProfileSecrets),
            .optional(
                "params", \.params,
                "Parameters: for GET, HEAD and DELETE in the query, else as a form, or as the first parts. Keys are sorted; "
                    + "members are key[member], elements key[], null is a bare key.",
                example: ["q": "xfer", "page": 2]),
            .optional("body", \.body, "Content of the request.", example: ["json": ["event": "push"]]),
            .optional("parts", \.parts, "A multipart form in place of body.", .count(1...1000)),
            .optional(
                "source", \.source, "For an upload: absolute path of the file; it must not change until it is sent.",
                .length(1...TaskLimits.pathLength), .absolutePath, example: "/srv/backup.tar"
            )
            .restricted(to: .ownFiles),
            .optional(
                "upload", \.upload,
                "Protocol of the upload: plain (a retry starts over), tus (1.0) or resumable (IETF draft); "
                    + "default plain."),
            .optional(
                "spool", \.spool,
                "First copy the files to send, so that they may change afterwards; default false."),
            .optional(
                "chunk_size", \.chunkSize,
                "With upload tus: largest request in bytes, for proxies that limit contents; default upload.chunk_size.",
                .range(1...ByteCount.greatest)),
            .optional(
                "creation_with_upload", \.creationWithUpload,
                "With upload tus: true to send the first bytes (up to 1 MiB) in the request that creates the upload, which saves a "
                    + "request for small files; default false."),
            .optional(
                "upload_parts", \.uploadParts,
                "With upload tus: the number of parts (at least 1 MiB each) sent at the same time. A server that does "
                    + "not join parts gets one upload; default 1.",
                .range(1...Int64(clamping: UploadOptions.mostParts))),
            .optional(
                "output", \.output,
                "The file's name, or a path: relative to dir, or absolute. By default the name comes from the server or the URL.",
                .length(1...TaskLimits.pathLength), .printable, .fileName, example: "README.txt"
            )
            .restricted(to: .ownFiles),
            .optional(
                "dir", \.dir, "Absolute path of the file's directory; default is the daemon's.",
                .length(1...TaskLimits.pathLength), .printable, .absolutePath, example: "/home/ada/Downloads"
            )
            .restricted(to: .ownFiles),
        ], TaskFields.destination.fields(ofTask: \.destination),
        [
            .optional(
                "checksum", \.checksum,
                "The digest that the finished bytes must have: ALGORITHM=DIGEST with sha-256, sha-512, sha-384, sha-224, "
                    + "blake2b, sha-1 or md5, in hex or base64; hex alone, sha256-BASE64 or a line of a checksum file.",
                example: "sha-256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
            .optional("priority", \.priority, "Strict order of starting; default normal.")
                .restricted(to: .grantedPriority),
            .optional(
                "group", \.group, "A group of yours, with which tasks can be paused, limited and selected.",
                .length(1...TaskLimits.nameLength), .visible),
            .optional(
                "label", \.label, "Text for people; tasks can also be selected by it.",
                .length(1...TaskLimits.labelLength), .visible),
            .optional(
                "client_key", \.clientKey,
                "Makes the add safe to repeat: the same key with the same request returns the task that exists.",
                .length(1...TaskLimits.nameLength), .visible),
            .optional(
                "owner", \.owner,
                "The user for whom it is added, with that user's rights: a name or a decimal uid; default is the caller. All tasks of "
                    + "a call have the same owner.",
                .length(1...256), .visible, example: "ada"
            )
            .restricted(to: .operators),
            .optional(
                "slot", \.slot,
                "Slot name. Adding a task to a slot cancels the task that occupies it (task.superseded).",
                .length(1...TaskLimits.nameLength), .visible, example: "avatar"),
        ], TaskFields.completion.fields(ofTask: \.completion),
        [
            .optional(
                "coalesce", \.coalesce,
                "True to share one request with tasks that request the same; each gets its own copy. Default true."
            ),
            .optional("paused", \.paused, "Add it paused; default false."),
            .optional(
                "after", \.after,
                "Tasks that must complete first; if one ends otherwise, this task fails with dependency_failed. "
                    + "Negative numbers count back within the same call: -1 is the task before this one.",
                .count(0...TaskLimits.dependencies), example: [16]),
        ], TaskFields.schedule.fields(ofTask: \.schedule), TaskFields.retries.fields(ofTask: \.limits),
        [
            .optional(
                "retry_failed", \.retryFailed,
                "True to request the URL even if it is on the failed-URL list; else the task fails at once with blocked_url. "
                    + "Default false.")
        ], (TaskFields.rates + TaskFields.extent).fields(ofTask: \.limits),
        [
            .optional(
                "resume", \.resume,
                "Resume of kept bytes without a validator: auto (default) starts over, unsafe continues."),
            .optional(
                "profile", \.profile,
                "Profile that supplies fields left unset here; null in one of the following fields unsets the profile's value.",
                .length(1...64)),
        ], TaskFields.request.fields(ofTask: \.choices),
        [
            .optional(
                "parse", \.parse,
                "For data and uploads: parsers of the response for task.result; the first that succeeds is used.",
                .count(0...8)),
            .optional(
                "strip_nulls", \.stripNulls, "Remove null members of objects from the parsed response; default false."),
        ], TaskFields.access.fields(ofTask: \.access), TaskFields.caching.fields(ofTask: \.choices),
        [
            .patch(
                "cache_key", \.cacheKey, "Key of the URL in the cache: a text, or the parts of the URL to ignore.",
                example: ["ignore_params": ["token"]])
        ], (TaskFields.conditions + TaskFields.connections).fields(ofTask: \.choices),
        TaskFields.progress.fields(ofTask: \.limits),
        [
            .optional(
                "policy", \.policy,
                "A trust policy that must accept every matching server in addition to the host's own; it must match the URL's host.",
                .length(1...64)),
            .optional(
                "meta", \.meta, "Any JSON of the client's own, returned unchanged.",
                .encodedSize(TaskLimits.metaSize), example: ["job": 17]),
        ])
}

/// Bounds of a task's fields.
public enum TaskLimits {
    /// The longest URL in characters.
    public static let urlLength = 16_384
    /// Mirrors of one task.
    public static let urls = TaskSpecification.maxSources
    /// The longest path in bytes (limits.h PATH_MAX without its end).
    public static let pathLength = 4095
    /// The longest name of a group, a slot or a client key, in characters.
    public static let nameLength = 128
    /// The longest label in characters.
    public static let labelLength = 256
    /// The largest `meta` in bytes, as compact JSON.
    public static let metaSize = 16_384
    /// The highest rate in bytes per second.
    public static let highestRate: Int64 = 1 << 50
    /// The highest number of seconds: ten years.
    public static let longestWait: Int64 = 315_360_000
    /// The highest number of tasks in `after`.
    public static let dependencies = 1000
    /// The highest number of tasks in `after` of all tasks of one call.
    public static let dependenciesOfCall = 50_000
    /// The highest number of tasks in one `task.add`, and of ids in one call.
    public static let batchSize = 10_000
}

extension WireLimit {
    /// A timeout in seconds.
    static let timeout = WireLimit.number(0...86_400)

    static let absolutePath = WireLimit.form("^/", expected: "an absolute path") { $0.hasPrefix("/") }

    /// A path whose last part can be the name of a file.
    static let fileName = WireLimit.form(
        "(^|/)(?!\\.{1,2}$)[^/]{1,255}$", expected: "a file's name of 1 to 255 bytes, or the path of a file"
    ) { path in
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        return !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
    }
}
