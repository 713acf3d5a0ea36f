import Glibc
public import Logging
public import XferManager
public import XferModel

/// The whole configuration, typed and within its limits.
///
/// The initial values are the defaults. `SettingKey.all` has one entry for each property: its name in the file, in the
/// environment and in `--print-config`, its accepted values and whether a reload applies it.
public struct Settings: Hashable, Sendable {
    /// The settings of the manager. What `Instance.managerSettings` adds is not in the file.
    public var service: ManagerSettings
    /// Trust policies by host pattern.
    public var policies: [Policy] = []
    /// Receivers of events.
    public var webhooks: [Webhook] = []
    public var redaction = Redaction()
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
        service = ManagerSettings(
            downloadDirectory: instance.downloadDirectory, roots: [instance.defaultRoot], ownUID: geteuid())
        service.authoritiesFile = "/etc/ssl/certs/ca-certificates.crt"
        service.monitorsNetwork = true
        if instance.kind == .system { service.admission.deniedAddresses = Self.metadataServices }
        fleet = Fleet(defaultsFor: instance)
    }

    /// Addresses of clouds' metadata services, which contain secrets: by default the system instance does not
    /// connect to them. RFC 3927, RFC 4291 §2.5.6, and Amazon's address in fd00::/8.
    static let metadataServices = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254"].compactMap { AddressBlock($0) }

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

    public struct Redaction: Hashable, Sendable {
        /// Names of header fields and URL parameters whose values are secrets, in addition to those that always are.
        public var names: [NamePattern] = []
    }

    public struct RPC: Hashable, Sendable {
        /// The largest message in bytes, in both directions.
        public var maxLine: Int64 = 4_194_304
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
        /// socket is not read. Also that of all clients of a user who is not an operator; further requests wait.
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
