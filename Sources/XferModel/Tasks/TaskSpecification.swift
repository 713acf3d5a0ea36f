/// The client's specification: fixed when the task is added, except for what `task.update` may change.
public struct TaskSpecification: Hashable, Sendable {
    public var owner: Owner
    public var kind: TaskKind
    public var request: TransferRequest
    public var destination: Destination
    public var checksum: Checksum?
    public var retry: RetryLimits
    /// True if the task was added paused.
    public var startsPaused: Bool
    public var priority: Priority
    public var group: String?
    public var label: String?
    /// Makes an add safe to repeat: unique per owner while the row lives; at most 128 characters.
    public var clientKey: String?
    /// Bytes per second this task may receive; 0 is unlimited.
    public var maxReceiveRate: Int64
    /// Seconds between two progress notifications.
    public var progressInterval: Double
    /// True if bytes may be continued without any validator (`resume: unsafe`).
    public var resumesUnsafely: Bool
    /// Small JSON text of the client's own, returned unchanged.
    public var meta: String?
    /// A trust policy that has to accept every server it matches, besides the policy of the host.
    public var policy: String?
    /// The profile whose defaults the task got, and whose credential and cookies it uses.
    public var profile: String?
    /// Bytes per second this task may send; 0 is unlimited.
    public var maxSendRate: Int64
    /// True if a request that is not idempotent may be sent again after a failure (RFC 9110 §9.2.2).
    public var retriesNonIdempotent: Bool
    public var upload: UploadOptions
    public var response: ResponseHandling
    /// The owner's slot, which has one task at a time: a task that joins it supersedes the present one. At most 128
    /// characters.
    public var slot: String?
    /// True if the task may share a transfer with others that are about the same bytes.
    public var coalesces: Bool
    /// The steps after the last byte, and after the task's end.
    public var completion: TaskCompletion
    /// The times at which the task may run, and its deadline.
    public var schedule = TaskSchedule()
    /// Further sources of the same bytes, in order of preference after `request.url`; `maxSources` − 1 at most.
    public var mirrors: [HTTPURL] = []
    /// The number of segments that are fetched at the same time; nil is the service's setting. Only for downloads with
    /// GET.
    public var segments: SegmentCount?
    /// True if a caller without an operator's rights, such as a token of a lesser scope, added this task of an operator
    /// or set its source or destination. Its runs have the rights of a guest's.
    public var isRestricted = false

    public init(
        owner: Owner, request: TransferRequest, destination: Destination, kind: TaskKind = .download,
        checksum: Checksum? = nil, retry: RetryLimits = RetryLimits(), startsPaused: Bool = false,
        priority: Priority = .normal, group: String? = nil, label: String? = nil, clientKey: String? = nil,
        maxReceiveRate: Int64 = 0, progressInterval: Double = 0.5, resumesUnsafely: Bool = false, meta: String? = nil,
        policy: String? = nil, profile: String? = nil, maxSendRate: Int64 = 0, retriesNonIdempotent: Bool = false,
        upload: UploadOptions = UploadOptions(), response: ResponseHandling = ResponseHandling(), slot: String? = nil,
        coalesces: Bool = true, completion: TaskCompletion = TaskCompletion()
    ) {
        self.owner = owner
        self.kind = kind
        self.request = request
        self.destination = destination
        self.checksum = checksum
        self.retry = retry
        self.startsPaused = startsPaused
        self.priority = priority
        self.group = group
        self.label = label
        self.clientKey = clientKey
        self.maxReceiveRate = maxReceiveRate
        self.progressInterval = progressInterval
        self.resumesUnsafely = resumesUnsafely
        self.meta = meta
        self.policy = policy
        self.profile = profile
        self.maxSendRate = maxSendRate
        self.retriesNonIdempotent = retriesNonIdempotent
        self.upload = upload
        self.response = response
        self.slot = slot
        self.coalesces = coalesces
        self.completion = completion
    }
}

extension TaskSpecification {
    /// The highest number of sources of one task.
    public static let maxSources = 16

    /// The URLs that can provide the bytes, in order of preference.
    public var sources: [HTTPURL] { [request.url] + mirrors }
}

/// Limits for the repetition of a failing transfer.
public struct RetryLimits: Hashable, Sendable, Codable {
    /// The number of attempts after the first; nil is unlimited within `retryFor`.
    public var maxRetries: Int?
    /// Seconds since the last progress within which it is retried; pauses, other waits and time without a running
    /// daemon do not count.
    public var retryFor: Int64

    public init(maxRetries: Int? = nil, retryFor: Int64 = 86_400) {
        self.maxRetries = maxRetries
        self.retryFor = retryFor
    }
}

extension TaskSpecification: ChoiceSubject {
    /// A client's choices about the task's retries and rates.
    public struct Limits: Hashable, Sendable {
        public var maxRetries = Patch<Int>.unchanged
        /// Seconds.
        public var retryFor = Patch<Int64>.unchanged
        public var retriesNonIdempotent = Patch<Bool>.unchanged
        /// Bytes per second, 0 is unlimited.
        public var maxReceiveRate = Patch<Int64>.unchanged
        public var maxSendRate = Patch<Int64>.unchanged
        /// Seconds.
        public var progressInterval = Patch<Double>.unchanged
        public var segments = Patch<SegmentCount>.unchanged
        public var range = Patch<SourceRange>.unchanged
        /// The length in bytes.
        public var maxSize = Patch<Int64>.unchanged

        public init() {}
    }

    public typealias Choices = Limits

    public static let choiceTable: [Choice<Self>] = [
        Choice(\.maxRetries, optional: \.retry.maxRetries),
        Choice(\.retryFor, \.retry.retryFor),
        Choice(\.retriesNonIdempotent, \.retriesNonIdempotent, hidden: false),
        Choice(\.maxReceiveRate, \.maxReceiveRate),
        Choice(\.maxSendRate, \.maxSendRate),
        Choice(\.progressInterval, \.progressInterval),
        Choice(\.segments, optional: \.segments),
        Choice(\.range, optional: \.request.range),
        Choice(\.maxSize, optional: \.request.maxSize),
    ]
}

extension TaskSpecification {
    static let ownOptions: [StoredOption] = [
        StoredOption("retry", \.retry, .own),
        StoredOption("startsPaused", \.startsPaused, .own),
        StoredOption("maxReceiveRate", \.maxReceiveRate, .own),
        StoredOption("progressInterval", \.progressInterval, .own),
        StoredOption("resumesUnsafely", \.resumesUnsafely, .own),
        StoredOption("maxSendRate", \.maxSendRate, .own),
        StoredOption("retriesNonIdempotent", \.retriesNonIdempotent, .own),
        StoredOption("upload", \.upload, .own),
        StoredOption("response", \.response, .own),
        StoredOption("completion", \.completion, .own),
        StoredOption("coalesces", \.coalesces, .own),
        StoredOption("schedule", \.schedule, .own),
        StoredOption("mirrors", \.mirrors, .common),
        StoredOption("segments", \.segments, .own),
        StoredOption("isRestricted", \.isRestricted, .common),
    ]
}
