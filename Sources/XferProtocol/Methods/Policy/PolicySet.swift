import StrictJSON

/// `policy.set`: writes a trust policy.
public enum PolicySet: RPCMethod {
    public typealias Result = PolicyGet.Result

    public static let name = "policy.set"
    public static let summary =
        "Writes a trust policy, replacing the one of that name. Connections judged by the earlier version are given up; "
        + "what runs over them stops at its next safe point and is judged anew."
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
        public var policy = PolicyInput()

        public init() {}
        public init(policy: PolicyInput) { self.policy = policy }

        public static let summary = "The policy as it is to be."
        public static let wireFields: WireFields<Self> = [
            .required("policy", \.policy, "The whole policy: what it does not say has its default.")
        ]
    }
}
