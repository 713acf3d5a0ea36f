import XferCore
public import XferModel

/// What the operator decides about the service, apart from limits set over RPC.
public struct ManagerSettings: Hashable, Sendable {
    /// Transfers whose bodies are on the way at once, at least 1.
    public var maxActive = 6
    /// Of those, transfers from one host, at least 1.
    public var maxActivePerHost = 4
    public var order = QueueOrder.fifo
    /// Where downloads go that name no directory; absolute.
    public var downloadDirectory: String
    /// Directories below which operators' destinations have to lie; absolute.
    public var roots: [String]
    /// Directories below which everybody else's destinations have to lie.
    public var grants = RootGrants()
    /// Directories that are never source or destination: state, configuration, credentials; absolute.
    public var forbiddenDirectories: [String] = []
    /// Bytes that stay free on every file system.
    public var reserve: Int64 = 256 << 20
    /// Permission bits of published files unless the task says otherwise.
    public var fileMode: UInt16 = 0o644
    /// Bytes of a transfer that may be at stake before they are made durable; a checkpoint begins at half of it.
    public var checkpointBytes: Int64 = 16 << 20
    /// How long received bytes may be at stake; a checkpoint begins after half of it.
    public var checkpointInterval = Duration.seconds(2)
    /// Segments of a download that are fetched at the same time, unless the task says otherwise.
    public var segments = SegmentCount.one
    /// No smaller part of a download is split off, in bytes.
    public var smallestSegment: Int64 = 1 << 20
    /// Connections of clients that are taken at once; their descriptors are left to them.
    public var maxClients = 256
    /// Threads that move bytes, 1 … 8.
    public var engineLoops = 1
    /// Bytes of a response that are kept in the database; a larger one goes to the spool directory.
    public var largestInlineResult = 256 << 10
    /// Bytes of a response that are kept at all; a larger one fails with `length_mismatch`.
    public var largestResult: Int64 = 1 << 30
    /// Bytes of a response for each byte received, once its content coding is undone; beyond 1 MiB, a response that is
    /// denser fails with `expansion_limit`.
    public var largestResultRatio: Int64 = 200
    /// Bytes of a response that `parse` makes an object of; a larger one fails with `parse_failed`.
    public var largestParsedResult: Int64 = 1 << 20
    /// PEM bundle of the certificate authorities that are trusted; nil is the system's.
    public var authoritiesFile: String?
    /// The configuration file's trust policies.
    public var policies: [TrustPolicy] = []
    /// The configuration file's profiles.
    public var profiles: [Profile] = []
    /// The operator's commands, which tasks can name.
    public var hooks: [HookDefinition] = []
    /// Which URLs may be loaded at all.
    public var admission = AdmissionLists()
    /// Whether tasks that name no proxy use the environment's.
    public var usesEnvironmentProxies = false
    /// Whether links, addresses and routes are watched; otherwise the network is `unknown`.
    public var monitorsNetwork = false
    /// Interfaces that cost money.
    public var meteredInterfaces: [InterfacePattern] = []
    /// The service's environment: credentials and proxies may be in it.
    public var environment: [String: String] = [:]
    /// Where the service manager laid down credentials.
    public var credentialsDirectory: String?
    /// The daemon's own uid: it and root are operators.
    public var ownUID: UInt32
    /// How long a task is retried since its last progress, in seconds, unless it says otherwise.
    public var retryFor: Int64 = 86_400
    /// Seconds for which a URL that failed for good is not asked for again; 0 asks always.
    public var negativeTTL: Int64 = 3600
    /// Whether tasks of different owners may be about the same bytes.
    public var sharesBetweenOwners = false
    /// Bytes of responses that the cache keeps; when there are more, the least recently used go until it is under half.
    public var cacheMaxBytes: Int64 = 1 << 30
    /// Seconds since its last use for which a response is kept.
    public var cacheMaxAge: Int64 = 604_800
    /// Bytes per second over all transfers; a timetable beats them while it has entries.
    public var bandwidth = BandwidthLimits()
    /// In the machine's own zone.
    public var timetable = BandwidthSchedule()
    /// Where the time zone database is, and the machine's own zone.
    public var zoneDirectory = "/usr/share/zoneinfo"
    public var localZoneFile = "/etc/localtime"
    public var retention = Retention()
    /// Whether fatal signals of this process are recorded in the state directory. For one manager in a process.
    public var recordsCrashes = false

    public init(downloadDirectory: String, roots: [String], ownUID: UInt32) {
        self.downloadDirectory = downloadDirectory
        self.roots = roots
        self.ownUID = ownUID
    }

    func isOperator(_ owner: Owner) -> Bool { owner.rawValue == 0 || owner.rawValue == ownUID }

    /// Nil when they are not to be used. A variable that names no proxy is no reason to go past it: attempts fail then.
    var environmentProxies: Result<EnvironmentProxies?, EnvironmentProxyFault> {
        guard usesEnvironmentProxies else { return .success(nil) }
        return Result { () throws(EnvironmentProxyFault) in try EnvironmentProxies(environment) }
    }

    var scheduler: SchedulerLimits {
        SchedulerLimits(maxActive: maxActive, maxActivePerHost: maxActivePerHost, order: order)
    }

    var checkpoints: CheckpointWindow.Limits {
        CheckpointWindow.Limits(
            dueBytes: checkpointBytes / 2, dueAfter: checkpointInterval / 2, pauseBytes: checkpointBytes,
            pauseAfter: checkpointInterval)
    }

    var retry: RetryPolicy { RetryPolicy() }
}

/// How much of the past is kept; ages in seconds.
public struct Retention: Hashable, Sendable {
    public var maxEvents = 100_000
    /// Nothing younger than 24 h is trimmed, whatever this says.
    public var maxEventAge: Int64 = 2_592_000
    /// Terminal tasks.
    public var maxHistory = 100_000
    public var maxHistoryAge: Int64 = 7_776_000
    /// Partial bytes of failed tasks.
    public var keepFailed: Int64 = 604_800
    /// Responses.
    public var keepResults: Int64 = 604_800

    public init() {}
}
