import StrictJSON

/// `policy.test`: how a server would be judged.
public enum PolicyTest: RPCMethod {
    public typealias Result = ServerReportRecord

    public static let name = "policy.test"
    public static let summary =
        "Shakes hands with a URL's server and says how it is judged by the policies a task would be held to; asks for "
        + "nothing."
    public static let errors: [ErrorCode] = [.notFound, .rejectedByPolicy]
    public static let examples = [
        MethodExample(
            "a pinned mirror", params: ["url": "https://mirror.example.org/"],
            result: [
                "host": "mirror.example.org", "port": 443, "verdict": "accepted", "tls_version": "TLSv1.3",
                "chain": [
                    [
                        "subject": "CN=mirror.example.org", "issuer": "CN=Example CA", "names": ["mirror.example.org"],
                        "not_before": "2026-01-01T00:00:00.000Z", "not_after": "2027-01-01T00:00:00.000Z",
                        "pin": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "pinned_by": ["mirror"],
                        "pem": "-----BEGIN CERTIFICATE-----\n",
                    ]
                ], "stages": [["stage": "chain", "passed": true, "detail": "leads to a trusted authority"]],
                "policies": [
                    [
                        "name": "mirror", "version": 3, "accepted": true, "report_only": false, "expired": false,
                    ]
                ],
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var url = ""
        public var policy: String?

        public init() {}

        public init(url: String, policy: String? = nil) {
            self.url = url
            self.policy = policy
        }

        public static let summary = "Which server, and a policy a task would name."
        public static let wireFields: WireFields<Self> = [
            .required("url", \.url, "An absolute https URL.", .length(1...TaskLimits.urlLength)),
            .optional("policy", \.policy, "A policy that has to accept besides the host's."),
        ]
    }
}
