public import Logging
public import XferModel

/// The whole configuration, typed and within its limits.
///
/// The initial values are the defaults. `SettingKey.all` has one entry for each property: its name in the file, in the
/// environment and in `--print-config`, its accepted values and whether a reload applies it.
public struct Settings: Hashable, Sendable {
    public var queue = Queue()
    public var bandwidth = Bandwidth()
    public var download: Download
    public var sharing = Sharing()
    public var cache = Cache()
    public var trust = Trust()
    /// Defaults for requests, by name.
    public var profiles: [Profile] = []
    /// Commands that tasks can name.
    public var hooks: [HookDefinition] = []
    /// Receivers of events.
    public var webhooks: [Webhook] = []
    public var network = Network()
    public var redaction = Redaction()
    public var engine = Engine()
    public var upload = Upload()
    public var results = Results()
    public var events = Retention(maxCount: 100_000, maxAge: .seconds(2_592_000))
    public var history = Retention(maxCount: 100_000, maxAge: .seconds(7_776_000))
    public var rpc = RPC()
    /// The addresses on the network on which it listens, in addition to the Unix socket.
    public var listen: [Listener] = []
    public var gateway = GatewayLimits()
    public var access = Access()
    public var log = Log()
    /// The settings of `xferctl` for the daemon's user.
    public var client = Client()
    /// The settings of a fleet's node, for `xfer-fleet`; the daemon itself does not use them.
    public var fleet: Fleet

    /// The defaults of an instance; the download directory depends on its kind.
    public init(defaultsFor instance: InstancePaths) {
        download = Download(directory: instance.downloadDirectory, roots: [instance.defaultRoot])
        fleet = Fleet(defaultsFor: instance)
        if instance.kind == .system { network.admission.deniedAddresses = Network.metadataServices }
    }

    public struct Queue: Hashable, Sendable {
        /// The highest number of transfers at the same time; nil leaves the number to xferd.
        public var maxActive: Int?
        /// The highest number of those from one host; nil leaves the number to xferd.
        public var maxActivePerHost: Int?
        /// True if a host sees at most six connections where `maxActivePerHost` is nil.
        public var isPolite = true
        /// The order of a host's tasks within a priority.
        public var order = QueueOrder.fifo
        /// The longest time since its last progress for which a transfer is retried.
        public var retryFor = Duration.seconds(86_400)
    }

    public struct Bandwidth: Hashable, Sendable {
        /// Bytes per second over all transfers; 0 is unlimited.
        public var limits = BandwidthLimits()
        /// The timetable, which overrides `limits` if it has entries.
        public var timetable = BandwidthSchedule()
    }

    public struct Download: Hashable, Sendable {
        /// The directory of tasks that set none; absolute.
        public var directory: String
        /// Directories beneath which operators' tasks may write; absolute.
        public var roots: [String]
        /// True if every task may write to hidden names directly beneath a home directory, such as `~/.ssh`.
        public var allowsHidden = false
        /// The number of bytes left free on every file system.
        public var reserve: Int64 = 268_435_456
        /// The number of bytes of a transfer after which a checkpoint makes them durable.
        public var checkpointBytes: Int64 = 16_777_216
        /// The longest time between two checkpoints, before which received bytes are not durable.
        public var checkpointInterval = Duration.seconds(2)
        /// The number of segments of a download that are fetched at the same time, unless the task sets its own.
        public var segments = SegmentCount.one
        /// Bytes per second that each connection has to receive unless the task sets its own; 0 turns this off.
        public var minReceiveRate: Int64 = 0
        /// The time over which that is measured.
        public var minReceiveTime = Duration.seconds(30)
    }

    public struct Engine: Hashable, Sendable {
        /// The number of threads that move bytes.
        public var loops = 1
    }

    public struct Upload: Hashable, Sendable {
        /// The largest request of a tus upload in bytes, unless the task sets its own; 0 is unlimited.
        public var chunkSize: Int64 = 0
    }

    public struct Results: Hashable, Sendable {
        /// The highest number of bytes of a response that are kept for `task.result`; a larger one fails its task.
        public var maxBytes: Int64 = 1_073_741_824
        /// The highest number of decoded bytes of a response for each byte received.
        public var maxRatio = 200
    }

    public struct Sharing: Hashable, Sendable {
        /// The time for which a permanently failed URL is refused without a request; zero turns this off.
        public var negativeTTL = Duration.seconds(3600)
        /// True if results of one owner's task are used for another owner's.
        public var betweenOwners = false
    }

    public struct Cache: Hashable, Sendable {
        /// The size of the cache in bytes.
        public var maxBytes: Int64 = 1_073_741_824
        /// The time for which a response is cached since its last use.
        public var maxAge = Duration.seconds(604_800)
    }

    public struct Trust: Hashable, Sendable {
        /// PEM file with the certificate authorities that are trusted; absolute.
        public var authoritiesFile = "/etc/ssl/certs/ca-certificates.crt"
        /// The treatment of `http` URLs of hosts that have demanded https.
        public var strictTransport = StrictTransportMode.upgrade
        /// Trust policies by host pattern.
        public var policies: [Policy] = []
    }

    /// A trust policy with its pins in the file's form.
    public struct Policy: Hashable, Sendable {
        public var policy: TrustPolicy
        /// Paths, `sha256/…` or PEM text, in the file's form.
        public var pins: [String]
        /// The paths among them, absolute.
        public var pinFiles: [String] = []
    }

    /// A webhook whose filter has users in the file's form.
    public struct Webhook: Hashable, Sendable {
        /// The definition; its filter has no owners yet.
        public var definition: WebhookDefinition
        /// Names or decimal uids; nil accepts all.
        public var owners: [String]?
    }

    public struct Network: Hashable, Sendable {
        /// The URLs that may be requested at all.
        public var admission = AdmissionLists()
        /// True if tasks without a proxy use the environment's.
        public var proxyFromEnvironment = false
        /// True if links, addresses and routes are watched.
        public var monitor = true
        /// Interfaces that cost money.
        public var meteredInterfaces: [InterfacePattern] = []

        /// Addresses of clouds' metadata services, which contain secrets: by default the system instance does not
        /// connect to them. RFC 3927, RFC 4291 §2.5.6, and Amazon's address in fd00::/8.
        static let metadataServices = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254"].compactMap { AddressBlock($0) }
    }

    public struct Redaction: Hashable, Sendable {
        /// Names of header fields and URL parameters whose values are secrets, in addition to those that always are.
        public var names: [NamePattern] = []
    }

    /// Limits on the kept history.
    public struct Retention: Hashable, Sendable {
        public var maxCount: Int
        public var maxAge: Duration
    }

    public struct RPC: Hashable, Sendable {
        /// The largest message in bytes, in both directions.
        public var maxLine: Int64 = 4_194_304
        public var maxClients = 256
        /// The highest number of connections of one user who is not an operator.
        public var maxClientsPerUser = 64
        /// The number of connections that only operators get, at most half of all.
        public var reservedClients = 16
        /// The longest time that a request may take from its first byte to its last.
        public var requestTimeout = Duration.seconds(30)
        /// The highest number of bytes of events that wait for one connection, and for all of a user's, before their
        /// streams end in an overflow.
        public var maxWaiting: Int64 = 8_388_608
        public var maxWaitingPerUser: Int64 = 33_554_432
        /// The highest number of requests of one client that are carried out at the same time; while they run, its
        /// socket is not read.
        public var maxInFlight = 64
    }

    public struct GatewayLimits: Hashable, Sendable {
        /// The highest number of connections of all listeners at a time.
        public var maxClients = 2000
        /// The downloads that are visible through aria2's protocol.
        public var aria2 = Aria2Downloads.added
    }

    /// Downloads of a token's user.
    public enum Aria2Downloads: String, Sendable, CaseIterable {
        /// The tasks that were added through this protocol.
        case added
        case all
    }

    public struct Access: Hashable, Sendable {
        /// Users in addition to the operators, by name or decimal uid.
        public var users: [String: Grant] = [:]
        /// Groups whose members may call, by name or decimal gid.
        public var groups: [String: Grant] = [:]
        /// The number of bytes that may be stored for the tasks of one user who is not an operator.
        public var maxStored: Int64 = 256 << 20
        /// The number of bytes of events that may wait for webhooks, of one user who is not an operator.
        public var maxUndelivered: Int64 = 16 << 20

        /// True if anyone but operators may call.
        public var isConfigured: Bool { !users.isEmpty || !groups.isEmpty }
    }

    /// The permissions of an allowed user.
    public struct Grant: Hashable, Sendable {
        /// Directories beneath which its tasks may write and read; absolute, at least one.
        public var roots: [String]
        /// The highest number of unfinished tasks it may have.
        public var maxTasks = 10_000
        public var maxPriority = Priority.normal

        public init(roots: [String], maxTasks: Int = 10_000, maxPriority: Priority = .normal) {
            self.roots = roots
            self.maxTasks = maxTasks
            self.maxPriority = maxPriority
        }
    }

    public struct Client: Hashable, Sendable {
        /// The choice between starting a daemon when none runs, and not, for `xferctl add`.
        public var start = ClientStart.auto
    }

    public struct Log: Hashable, Sendable {
        public var level = Logger.Level.info
        public var format = LogFormat.auto
    }
}

/// The choice between starting a daemon for its user when none runs, and not, for `xferctl add`.
public enum ClientStart: String, CaseIterable, Sendable {
    case auto
    case never
}
