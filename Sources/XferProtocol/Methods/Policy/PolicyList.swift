import StrictJSON

/// `policy.list`: all trust policies.
public enum PolicyList: RPCMethod {
    public typealias Params = NoParams

    public static let name = "policy.list"
    public static let summary = "All trust policies by name, the default among them."
    public static let examples = [
        MethodExample(
            "one policy", params: [:],
            result: [
                "policies": [
                    [
                        "name": "mirror", "version": 3, "origin": "rpc", "mode": "public_key",
                        "pins": [
                            [
                                "pin": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
                                "key": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
                            ]
                        ], "hosts": [".example.org"], "allow_invalid_certificates": false,
                        "validates_domain_name": true,
                        "report_only": false, "min_tls": "1.2",
                    ]
                ]
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var policies: [PolicyRecord] = []

        public init() {}
        public init(policies: [PolicyRecord]) { self.policies = policies }

        public static let summary = "All trust policies."
        public static let wireFields: WireFields<Self> = [.required("policies", \.policies, "By name.")]
    }
}
