public import XferModel

/// A task as a client words it, before it is judged: the URL is text, paths are unchecked, defaults are unset.
public struct TaskDraft: Sendable {
    public var url: String
    public var headers: [HeaderField] = []
    public var credential: Credential?
    /// A file name, or an absolute path that names directory and file.
    public var output: String?
    /// Absolute path; nil is the service's download directory.
    public var directory: String?
    public var onConflict: ConflictPolicy = .rename
    public var mode: UInt16?
    public var usesRemoteTime = false
    public var checksum: Checksum?
    public var startsPaused = false
    public var priority: Priority = .normal
    public var group: String?
    public var label: String?
    public var clientKey: String?
    public var maxRetries: Int?
    public var retryFor: Int64?
    public var maxReceiveRate: Int64 = 0
    public var progressInterval: Double = 0.5
    public var resumesUnsafely = false
    public var redirect: RedirectPolicy = .follow
    public var allowsDowngrade = false
    public var httpVersion: HTTPVersion = .automatic
    public var timeouts = Timeouts()
    public var acceptedStatus: ClosedRange<Int> = 200...299
    public var meta: String?

    public init(url: String) { self.url = url }
}

/// On whose behalf something is done and what they may do.
public struct Principal: Hashable, Sendable {
    public var owner: Owner
    /// Operators see and touch everybody's tasks.
    public var isOperator: Bool
    /// Directories below which this caller's destinations have to lie; absolute.
    public var roots: [String]
    /// Unfinished tasks this caller may have; nil is unlimited.
    public var maxTasks: Int?
    public var maxPriority: Priority

    public init(
        owner: Owner, isOperator: Bool, roots: [String], maxTasks: Int? = nil, maxPriority: Priority = .high
    ) {
        self.owner = owner
        self.isOperator = isOperator
        self.roots = roots
        self.maxTasks = maxTasks
        self.maxPriority = maxPriority
    }

    /// Whose tasks are visible: nil is everybody's.
    public var visibleOwner: Owner? { isOperator ? nil : owner }
}
