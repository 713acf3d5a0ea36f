public import XferCore
public import XferModel

/// The operator's settings of the service. Limits that clients set over RPC are not included.
public struct ManagerSettings: Hashable, Sendable {
    /// The highest number of transfers that are active at once, at least 1; nil leaves the number to `TransferMix`.
    public var maxActive: Int?
    /// The highest number of active transfers from one host, at least 1; nil leaves the number to `OriginWindow`.
    public var maxActivePerHost: Int?
    /// False if hosts may see more connections than is polite; see `OriginWindow.Bounds`.
    public var isPolite = true
    public var order = QueueOrder.fifo
    /// The directory for downloads that set none; absolute.
    public var downloadDirectory: String
    /// The directory in which operators' downloads lie until they are whole; nil if each lies in its destination.
    public var incompleteDirectory: String?
    /// The directories beneath which operators' destinations must be; absolute.
    public var roots: [String]
    /// The directories beneath which the destinations of the service's own user must be: `roots`, or `/` where only the
    /// user's permissions decide.
    public var ownRoots: [String]
    /// The file that refusals suggest for more roots; nil if there is none.
    public var configurationFile: String?
    /// The directories beneath which other users' destinations must be.
    public var grants = RootGrants()
    /// True if every destination may have hidden names directly beneath a home directory, such as `~/.ssh`.
    public var allowsHidden = false
    /// Directories that are never a source or destination: state, configuration, credentials; absolute.
    public var forbiddenDirectories: [String] = []
    /// The number of bytes that must stay free on every file system.
    public var reserve: Int64 = 256 << 20
    /// Permission bits of published files, unless the task sets them.
    public var fileMode: UInt16 = 0o644
    /// The highest number of a transfer's bytes that are not durable yet; a checkpoint begins at half of it.
    public var checkpointBytes: Int64 = 16 << 20
    /// The longest time that received bytes wait to be made durable; a checkpoint begins after half of it.
    public var checkpointInterval = Duration.seconds(2)
    /// The number of segments of a download that are fetched at the same time, unless the task sets its own number.
    public var segments = SegmentCount.one
    /// The number of bytes per second that each connection has to receive, unless the task sets its own; 0 turns this
    /// off.
    public var minReceiveRate: Int64 = 0
    /// The time over which that is measured.
    public var minReceiveTime = Duration.seconds(30)
    /// The highest number of bytes in one request of a tus upload, unless the task sets its own; 0 is unlimited.
    public var uploadChunkSize: Int64 = 0
    /// The smallest segment of a download, in bytes.
    public var smallestSegment: Int64 = 1 << 20
    /// The age after which a large transfer does not return to the queue.
    public var largeYouth = TransferMix.youth
    /// The highest number of client connections. File descriptors are reserved for them.
    public var maxClients = 256
    /// The number of threads that transfer bytes, 1 … 8.
    public var engineLoops = 1
    /// The largest response kept in the database, in bytes. A larger one is kept in the spool directory.
    public var largestInlineResult = 256 << 10
    /// The largest response that is kept, in bytes. A larger one fails with `length_mismatch`.
    public var largestResult: Int64 = 1 << 30
    /// The highest ratio of decoded bytes to received bytes of a response. Beyond 1 MiB, a higher ratio fails with
    /// `expansion_limit`.
    public var largestResultRatio = 200
    /// The largest response that is parsed, in bytes. A larger one fails with `parse_failed`.
    public var largestParsedResult: Int64 = 1 << 20
    /// A PEM bundle of the trusted certificate authorities; nil for the system's bundle.
    public var authoritiesFile: String?
    /// The treatment of `http` URLs of hosts that have demanded https.
    public var strictTransport = StrictTransportMode.upgrade
    /// The configuration file's trust policies.
    public var policies: [TrustPolicy] = []
    /// The configuration file's profiles.
    public var profiles: [Profile] = []
    /// The operator's commands. Tasks can refer to them.
    public var hooks: [HookDefinition] = []
    /// The operator's receivers of events. Tasks can refer to them for their ends.
    public var webhooks: [WebhookDefinition] = []
    /// The rules for which URLs may be loaded.
    public var admission = AdmissionLists()
    /// True if tasks without a proxy use the environment's.
    public var usesEnvironmentProxies = false
    /// True if links, addresses and routes are monitored; otherwise the network is `unknown`.
    public var monitorsNetwork = false
    /// The interfaces that count as metered.
    public var meteredInterfaces: [InterfacePattern] = []
    /// The service's environment. It may contain credentials and proxies.
    public var environment: [String: String] = [:]
    /// The path of the daemon's socket, for the message of a second daemon; nil if it has none.
    public var socket: String?
    /// The directory of credentials from the service manager.
    public var credentialsDirectory: String?
    /// The uid that the daemon runs as. This user and root are operators.
    public var ownUID: UInt32
    /// The time for which a task is retried after its last progress, unless the task sets its own limit.
    public var retryFor = Duration.seconds(86_400)
    /// The delays between attempts. No setting of the daemon; tests shorten it.
    public var retry = RetryPolicy()
    /// The time for which a permanently failed URL is refused without a request; zero turns this off.
    public var negativeTTL = Duration.seconds(3600)
    /// The highest number of bytes that are kept for the tasks of one user who is not an operator.
    public var maxStoredPerUser: Int64 = 256 << 20
    /// The highest number of bytes of events that may wait for webhooks, of one user who is not an operator.
    public var maxUndeliveredPerUser: Int64 = 16 << 20
    /// True if tasks of different owners may share a transfer.
    public var sharesBetweenOwners = false
    /// The limit for the bytes of all cached contents. If they exceed it, the least recently used contents are removed
    /// until at most half of the limit is left.
    public var cacheMaxBytes: Int64 = 1 << 30
    /// The time for which a response stays in the cache after its last use.
    public var cacheMaxAge = Duration.seconds(604_800)
    /// Limits in bytes per second for all transfers together. If `timetable` has entries, it takes precedence.
    public var bandwidth = BandwidthLimits()
    /// The bandwidth limits by time of day, in the machine's own time zone.
    public var timetable = BandwidthSchedule()
    /// The directory of the time zone database, and the file of the machine's own zone.
    public var zoneDirectory = "/usr/share/zoneinfo"
    public var localZoneFile = "/etc/localtime"
    public var retention = Retention()
    /// True if fatal signals of this process are recorded in the state directory. Only one manager in a process may set
    /// it.
    public var recordsCrashes = false
    /// True if every write is executed twice, and rolled back the first time. Tests find effects outside the
    /// transaction with it.
    public var repeatsWrites = false

    public init(downloadDirectory: String, roots: [String], ownUID: UInt32) {
        self.downloadDirectory = downloadDirectory
        self.roots = roots
        ownRoots = roots
        self.ownUID = ownUID
    }

    /// The file of the authorities that a task trusts; nil for the system's bundle.
    func authoritiesFile(of request: TransferRequest) -> String? { request.authoritiesFile ?? authoritiesFile }

    /// The confinement of tasks that the caller adds or changes, or nil if they are not confined.
    func confinement(of principal: Principal) -> Confinement? {
        switch principal.confinement {
        case nil: nil
        case .downloads?: Confinement(directory: downloadDirectory)
        case .directory(let directory)?: Confinement(directory: directory)
        }
    }

    func isOperator(_ owner: Owner) -> Bool { owner.rawValue == 0 || owner.rawValue == ownUID }

    var deliveryLimits: DeliveryLimits {
        DeliveryLimits(bytesPerUser: maxUndeliveredPerUser, unlimited: [Owner(uid: 0), Owner(uid: ownUID)])
    }

    /// True if the task's runs have an operator's rights.
    func hasOperatorRights(_ task: TaskSpecification) -> Bool { isOperator(task.owner) && !task.isRestricted }

    /// True if the caller's request restricts the owner's task: an operator's rights are not lent to callers that act
    /// for one without having them.
    func restricts(_ principal: Principal, taskOf owner: Owner) -> Bool { !principal.isOperator && isOperator(owner) }

    /// The proxies that the environment names; nil if `usesEnvironmentProxies` is false. If a variable is not a valid
    /// proxy, attempts fail instead of connecting directly.
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
}

/// The time for which events, ended tasks and their bytes are stored.
public struct Retention: Hashable, Sendable {
    public var maxEvents = 100_000
    /// The time after which events are trimmed; events younger than 24 h never are.
    public var maxEventAge = Duration.seconds(2_592_000)
    /// The highest number of ended tasks that are kept.
    public var maxHistory = 100_000
    public var maxHistoryAge = Duration.seconds(7_776_000)
    /// The time for which the partial bytes and the spooled sources of a failed task are kept.
    public var keepFailed = Duration.seconds(604_800)
    /// The time for which the responses of ended tasks are stored.
    public var keepResults = Duration.seconds(604_800)

    public init() {}
}
