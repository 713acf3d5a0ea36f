import StrictJSON
public import XferModel

/// `queue.hosts`: the hosts in use, with their windows.
public enum QueueHosts: RPCMethod {
    public typealias Params = NoParams

    public static let name = "queue.hosts"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Hosts in use now or recently, or with limits of their own: the number of transfers each may have at once, "
        + "and the reason for this limit."
    public static let examples = [
        MethodExample(
            "one host", params: [:],
            result: [
                "hosts": [
                    [
                        "host": "example.org", "window": 6, "active": 6, "connections": 6, "protocol": "http/1.1",
                        "latency_ms": 21, "recv_rate": 5_800_000, "refusals": 0, "reason": "most",
                    ]
                ]
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var hosts: [HostRecord] = []

        public init() {}
        public init(hosts: [HostRecord]) { self.hosts = hosts }

        public static let summary = "The hosts, in the order of their names."
        public static let wireFields: WireFields<Self> = [
            .required("hosts", \.hosts, "The hosts, in the order of their names.")
        ]
    }
}

/// `queue.set_host`: sets a host's own limits.
public enum QueueSetHost: RPCMethod {
    public static let name = "queue.set_host"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "Sets a host's own limits, at once and after restarts, until they are set to null."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "a slow server",
            params: ["host": "example.org", "connections": 2, "requests_per_minute": 60],
            result: [
                "host": [
                    "host": "example.org", "window": 2, "active": 0, "max_connections": 2, "requests_per_minute": 60,
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var host = ""
        public var connections = Patch<Int>.unchanged
        public var requestsPerMinute = Patch<Int>.unchanged

        public init() {}

        public static let summary = "A host, and the limits to change."
        public static let wireFields: WireFields<Self> = [
            .required(
                "host", \.host, "The host's name as in URLs; with :port unless it is the scheme's default.",
                .length(1...260), .visible),
            .patch(
                "connections", \.connections,
                "Highest number of connections to it; null returns to the number that xferd determines.",
                .range(1...1000)),
            .patch(
                "requests_per_minute", \.requestsPerMinute,
                "Highest number of requests to it that begin within a minute, evenly spaced; null is no limit.",
                .range(1...60_000)),
        ]

        public func validate() throws(WireError) {
            guard !host.contains("/"), !host.contains("@") else {
                throw WireError(
                    .invalidValue, at: "host", expected: "a host's name, such as example.org or example.org:8080")
            }
            guard connections.isChange || requestsPerMinute.isChange else {
                throw WireError(.missing, expected: "at least one limit to change")
            }
        }
    }

    public struct Result: WireRecord, Hashable {
        public var host = HostRecord()

        public init() {}
        public init(host: HostRecord) { self.host = host }

        public static let summary = "The host with its limits."
        public static let wireFields: WireFields<Self> = [.required("host", \.host, "The host with its limits.")]
    }
}
