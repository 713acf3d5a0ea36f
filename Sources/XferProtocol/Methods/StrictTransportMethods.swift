import StrictJSON
public import XferModel

/// The methods of `hsts.*`, in the order of the document.
enum StrictTransportMethods {
    static let all: [any RPCMethod.Type] = [StrictTransportList.self, StrictTransportClear.self]
}

/// `hsts.list`: the hosts that have demanded https.
public enum StrictTransportList: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "hsts.list"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "The hosts that have demanded https (RFC 6797), by name: their http URLs are not requested without encryption."
    public static let examples = [
        MethodExample(
            "one host", params: [:],
            result: [
                "mode": "upgrade",
                "hosts": [
                    [
                        "host": "example.org", "include_subdomains": true, "expires_at": "2027-01-02T03:04:05.000Z",
                        "noted_at": "2026-01-02T03:04:05.000Z",
                    ]
                ], "next_cursor": nil,
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var mode: OpenEnum<StrictTransportMode> = OpenEnum(.upgrade)
        public var hosts: [SecureHostRecord] = []
        public var nextCursor: String?

        public init() {}

        public init(mode: StrictTransportMode, hosts: [SecureHostRecord], nextCursor: String?) {
            self.mode = OpenEnum(mode)
            self.hosts = hosts
            self.nextCursor = nextCursor
        }

        public static let summary = "The hosts, and the treatment of their http URLs."
        public static let wireFields: WireFields<Self> = [
            .required(
                "mode", \.mode,
                "The setting trust.hsts: http URLs go over https (upgrade), are refused (deny), or "
                    + "nothing is remembered (off)."),
            .required("hosts", \.hosts, "The hosts, by name; 4,096 at most on all pages."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `hsts.clear`: removes hosts.
public enum StrictTransportClear: RPCMethod {
    public static let name = "hsts.clear"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Removes hosts that have demanded https, until they demand it again: their http URLs are requested unchanged."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample(
            "two hosts", params: ["hosts": ["example.org", "example.net"]],
            result: ["removed": ["example.org"], "missing": ["example.net"]])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var hosts: [String]?

        public init() {}
        public init(hosts: [String]?) { self.hosts = hosts }

        public static let summary = "Hosts to remove."
        public static let wireFields: WireFields<Self> = [
            .optional("hosts", \.hosts, "Their names; default is all.", .count(1...1000))
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var removed: [String] = []
        public var missing: [String] = []

        public init() {}
        public init(removed: [String], missing: [String]) {
            self.removed = removed
            self.missing = missing
        }

        public static let summary = "The removed hosts."
        public static let wireFields: WireFields<Self> = [
            .required("removed", \.removed, "The names of hosts that were known."),
            .required("missing", \.missing, "Names in the call that were not known."),
        ]
    }
}

/// A host that has demanded https.
public struct SecureHostRecord: WireRecord, Hashable {
    public var host = ""
    public var includesSubdomains = false
    public var expiresAt = Timestamp(microseconds: 0)
    public var notedAt = Timestamp(microseconds: 0)

    public init() {}

    public init(_ host: SecureHost) {
        self.host = host.host
        includesSubdomains = host.includesSubdomains
        expiresAt = host.expiresAt
        notedAt = host.notedAt
    }

    public static let summary = "A host that has demanded https."
    public static let wireFields: WireFields<Self> = [
        .required("host", \.host, "Its name."),
        .required("include_subdomains", \.includesSubdomains, "True if the demand covers its subdomains."),
        .required("expires_at", \.expiresAt, "End of the demand unless the host repeats it."),
        .required("noted_at", \.notedAt, "Time of the host's last demand."),
    ]
}
