import StrictJSON

/// The methods of `policy.*`, in the order of the document.
enum PolicyMethods {
    static let all: [any RPCMethod.Type] = [
        PolicyList.self, PolicyGet.self, PolicySet.self, PolicyRemove.self, PolicyTest.self, PolicyPin.self,
    ]
}

/// `policy.list`: all trust policies.
public enum PolicyList: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "policy.list"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "All trust policies by name, the default among them."
    public static let examples = [
        MethodExample(
            "one policy", params: [:],
            result: ["policies": [PolicyGet.example], "next_cursor": nil])
    ]

    public struct Result: PageRecord, Hashable {
        public var policies: [PolicyRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [PolicyRecord]> { \.policies }

        public static let summary = "All trust policies."
        public static let wireFields: WireFields<Self> = [
            .required("policies", \.policies, "The policies, by name."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `policy.get`: one trust policy.
public enum PolicyGet: RPCMethod {
    public static let name = "policy.get"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "One trust policy."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample("by name", params: ["name": "mirror"], result: ["policy": example])
    ]

    static let example: JSONValue = [
        "name": "mirror", "version": 3, "origin": "rpc", "mode": "public_key",
        "pins": [
            [
                "pin": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
                "key": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
            ]
        ], "hosts": [".example.org"], "allow_invalid_certificates": false, "validates_domain_name": true,
        "report_only": false, "min_tls": "1.2",
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""

        public init() {}
        public init(name: String) { self.name = name }

        public static let summary = "The policy."
        public static let wireFields: WireFields<Self> = [.required("name", \.name, "The policy's name.")]
    }

    public struct Result: WireRecord, Hashable {
        public var policy = PolicyRecord()

        public init() {}
        public init(policy: PolicyRecord) { self.policy = policy }

        public static let summary = "The policy."
        public static let wireFields: WireFields<Self> = [.required("policy", \.policy, "The policy.")]
    }
}

/// `policy.set`: writes a trust policy.
public enum PolicySet: RPCMethod {
    public typealias Result = PolicyGet.Result

    public static let name = "policy.set"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Writes a trust policy, replacing the one of that name. Connections judged by the earlier version are closed; "
        + "tasks that use them stop at the next safe point and are judged again."
    public static let errors: [ErrorCode] = [.conflict, .storageUnavailable]
    public static let examples = [
        MethodExample(
            "pin a mirror's key",
            params: [
                "policy": [
                    "name": "mirror", "mode": "public_key", "hosts": [".example.org"],
                    "pins": ["sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="],
                ]
            ],
            result: ["policy": PolicyGet.example])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var policy = PolicyInput()

        public init() {}
        public init(policy: PolicyInput) { self.policy = policy }

        public static let summary = "The new policy."
        public static let wireFields: WireFields<Self> = [
            .required("policy", \.policy, "The whole policy: fields left unset have their defaults.")
        ]
    }
}

/// `policy.remove`: removes a trust policy.
public enum PolicyRemove: RPCMethod {
    public typealias Params = PolicyGet.Params
    public typealias Result = Done

    public static let name = "policy.remove"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Removes a trust policy: its hosts are judged by the next less specific one. Refused with in_use while an "
        + "unfinished task refers to it."
    public static let errors: [ErrorCode] = [.notFound, .conflict, .storageUnavailable]
    public static let examples = [MethodExample("by name", params: ["name": "mirror"], result: [:])]
}

/// `policy.test`: the judgement of a server by a policy.
public enum PolicyTest: RPCMethod {
    public typealias Result = ServerReportRecord

    public static let name = "policy.test"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Performs a handshake with a URL's server and returns its judgement by the policies that apply to a task; requests "
        + "nothing."
    public static let errors: [ErrorCode] = [.notFound, .rejectedByPolicy]
    public static let examples = [
        MethodExample(
            "a pinned mirror", params: ["url": "https://mirror.example.org/"],
            result: example(policy: "mirror", version: 3, pinnedBy: ["mirror"]))
    ]

    static func example(policy: JSONValue, version: JSONValue, pinnedBy: JSONValue) -> JSONValue {
        [
            "host": "mirror.example.org", "port": 443, "verdict": "accepted", "tls_version": "TLSv1.3",
            "chain": [
                [
                    "subject": "CN=mirror.example.org", "issuer": "CN=Example CA", "names": ["mirror.example.org"],
                    "not_before": "2026-01-01T00:00:00.000Z", "not_after": "2027-01-01T00:00:00.000Z",
                    "pin": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "pinned_by": pinnedBy,
                    "pem": "-----BEGIN CERTIFICATE-----\n",
                ]
            ], "stages": [["stage": "chain", "passed": true, "detail": "leads to a trusted authority"]],
            "policies": [
                ["name": policy, "version": version, "accepted": true, "report_only": false, "expired": false]
            ],
        ]
    }

    public struct Params: WireInput, WireParams, Hashable {
        public var url = ""
        public var policy: String?

        public init() {}

        public init(url: String, policy: String? = nil) {
            self.url = url
            self.policy = policy
        }

        public static let summary = "The server, and a task's policy."
        public static let wireFields: WireFields<Self> = [
            .required("url", \.url, "An absolute https URL.", .length(1...TaskLimits.urlLength)),
            .optional("policy", \.policy, "A policy that must accept the server in addition to the host's."),
        ]
    }
}

/// `policy.pin`: a server's certificates, ready to be pinned.
public enum PolicyPin: RPCMethod {
    public typealias Result = ServerReportRecord

    public static let name = "policy.pin"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Returns a server's certificates and the result of the ordinary check. Pinning trusts this one connection."
    public static let errors: [ErrorCode] = [.rejectedByPolicy]
    public static let examples = [
        MethodExample(
            "a mirror", params: ["host": "mirror.example.org"],
            result: PolicyTest.example(policy: "default", version: 0, pinnedBy: []))
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var host = ""
        public var port = 443

        public init() {}

        public init(host: String, port: Int = 443) {
            self.host = host
            self.port = port
        }

        public static let summary = "The server."
        public static let wireFields: WireFields<Self> = [
            .required("host", \.host, "A host name or an IP address.", .length(1...253)),
            .defaulted("port", \.port, "Its port.", .range(1...65_535)),
        ]
    }
}
