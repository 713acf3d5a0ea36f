import StrictJSON

/// `policy.get`: one trust policy.
public enum PolicyGet: RPCMethod {
    public static let name = "policy.get"
    public static let summary = "One trust policy."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "by name", params: ["name": "mirror"],
            result: [
                "policy": [
                    "name": "mirror", "version": 3, "origin": "rpc", "mode": "public_key",
                    "pins": [
                        [
                            "pin": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
                            "key": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
                        ]
                    ], "hosts": [".example.org"], "allow_invalid_certificates": false, "validates_domain_name": true,
                    "report_only": false, "min_tls": "1.2",
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""

        public init() {}
        public init(name: String) { self.name = name }

        public static let summary = "Which policy."
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
