/// The kernel's links, addresses and routes at one moment (rtnetlink(7)).
public struct NetworkFacts: Hashable, Sendable {
    public struct Link: Hashable, Sendable {
        public var index: Int32
        public var name: String
        /// True if it is up and has a carrier: `IFF_UP` and `IFF_RUNNING` (netdevice(7)).
        public var isRunning: Bool
        public var isLoopback: Bool

        public init(index: Int32, name: String, isRunning: Bool, isLoopback: Bool = false) {
            self.index = index
            self.name = name
            self.isRunning = isRunning
            self.isLoopback = isLoopback
        }
    }

    public struct Address: Hashable, Sendable {
        /// Index of the link that has it.
        public var link: Int32
        public var address: IPAddress
        /// Bits, 0 … 128.
        public var prefixLength: Int
        /// True if hosts beyond the link can reach it: neither link-local nor the machine's own.
        public var isGlobal: Bool
        /// True if it can be used yet: an IPv6 address cannot before it is known to be unique (RFC 4862 §5.4).
        public var isUsable: Bool

        public init(
            link: Int32, address: IPAddress, prefixLength: Int, isGlobal: Bool = true, isUsable: Bool = true
        ) {
            self.link = link
            self.address = address
            self.prefixLength = prefixLength
            self.isGlobal = isGlobal
            self.isUsable = isUsable
        }
    }

    public struct DefaultRoute: Hashable, Sendable {
        public var isIPv6: Bool
        /// True if it is in the main table; other tables are only used by routing rules.
        public var isMain: Bool
        /// The lowest is preferred.
        public var metric: UInt32
        /// Links it leads over: several with multipath.
        public var links: [Int32]

        public init(isIPv6: Bool = false, isMain: Bool = true, metric: UInt32 = 0, links: [Int32]) {
            self.isIPv6 = isIPv6
            self.isMain = isMain
            self.metric = metric
            self.links = links
        }
    }

    public var links: Set<Link>
    public var addresses: Set<Address>
    public var defaultRoutes: Set<DefaultRoute>
    /// The number of other routes.
    public var otherRoutes: Int
    /// The digest for comparing these routes; there may be a million.
    public var otherRoutesDigest: UInt64

    public init(
        links: Set<Link> = [], addresses: Set<Address> = [], defaultRoutes: Set<DefaultRoute> = [],
        otherRoutes: Int = 0, otherRoutesDigest: UInt64 = 0
    ) {
        self.links = links
        self.addresses = addresses
        self.defaultRoutes = defaultRoutes
        self.otherRoutes = otherRoutes
        self.otherRoutesDigest = otherRoutesDigest
    }
}

/// The reachability of hosts beyond this machine's own networks, and whether using it costs money.
///
/// Class of origin: AFNetworkReachabilityManager, whose WWAN became `metered`.
public enum NetworkState: String, Sendable, Codable, CaseIterable {
    /// The network is not monitored, or reading its state failed. It is treated as online.
    case unknown
    /// No usable default route. Hosts in the machine's own networks may still be reachable.
    case offline
    /// The preferred default route leads over an interface that costs money.
    case metered
    case unmetered
}
