public import XferCore
public import XferCurl
public import XferModel

/// What the operator decides about the service, apart from limits set over RPC.
public struct ManagerSettings: Hashable, Sendable {
    public var scheduler: SchedulerLimits
    public var retry: RetryPolicy
    /// How long a task is retried unless it says otherwise, in seconds.
    public var retryFor: Int64
    /// Where downloads go that name no directory; absolute.
    public var downloadDirectory: String
    /// Directories below which operators' destinations have to lie; absolute.
    public var roots: [String]
    /// Directories that are never source or destination: state, configuration, credentials; absolute.
    public var forbiddenDirectories: [String]
    /// Bytes that stay free on every file system.
    public var reserve: Int64
    /// Permission bits of published files unless the task says otherwise.
    public var fileMode: UInt16
    /// How often bytes in flight are made durable.
    public var checkpoints: CheckpointWindow.Limits
    public var trust: TrustSettings
    /// The daemon's own uid: it and root are operators.
    public var ownUID: UInt32
    /// Retention of events, history and failed tasks' bytes.
    public var retention: Retention

    public init(
        scheduler: SchedulerLimits = SchedulerLimits(), retry: RetryPolicy = RetryPolicy(), retryFor: Int64 = 86_400,
        downloadDirectory: String, roots: [String], forbiddenDirectories: [String] = [],
        reserve: Int64 = 256 << 20, fileMode: UInt16 = 0o644,
        checkpoints: CheckpointWindow.Limits = CheckpointWindow.Limits(), trust: TrustSettings = TrustSettings(),
        ownUID: UInt32, retention: Retention = Retention()
    ) {
        self.scheduler = scheduler
        self.retry = retry
        self.retryFor = retryFor
        self.downloadDirectory = downloadDirectory
        self.roots = roots
        self.forbiddenDirectories = forbiddenDirectories
        self.reserve = reserve
        self.fileMode = fileMode
        self.checkpoints = checkpoints
        self.trust = trust
        self.ownUID = ownUID
        self.retention = retention
    }

    public func isOperator(_ owner: Owner) -> Bool { owner.rawValue == 0 || owner.rawValue == ownUID }
}

/// How much of the past is kept; ages in seconds.
public struct Retention: Hashable, Sendable {
    public var maxEvents: Int
    /// Nothing younger than 24 h is trimmed, whatever this says.
    public var maxEventAge: Int64
    /// Terminal tasks.
    public var maxHistory: Int
    public var maxHistoryAge: Int64
    /// Partial bytes of failed tasks.
    public var keepFailed: Int64

    public init(
        maxEvents: Int = 100_000, maxEventAge: Int64 = 2_592_000, maxHistory: Int = 100_000,
        maxHistoryAge: Int64 = 7_776_000, keepFailed: Int64 = 604_800
    ) {
        self.maxEvents = maxEvents
        self.maxEventAge = maxEventAge
        self.maxHistory = maxHistory
        self.maxHistoryAge = maxHistoryAge
        self.keepFailed = keepFailed
    }
}
