import StrictJSON

/// `policy.pin`: a server's certificates, ready to be pinned.
public enum PolicyPin: RPCMethod {
    public typealias Result = ServerReportRecord

    public static let name = "policy.pin"
    public static let summary =
        "Shows a server's certificates after the ordinary check. Whoever pins what it shows trusts the network once."
    public static let errors: [ErrorCode] = [.rejectedByPolicy]
    public static let examples = [
        MethodExample(
            "a mirror", params: ["host": "mirror.example.org"],
            result: [
                "host": "mirror.example.org", "port": 443, "verdict": "accepted", "tls_version": "TLSv1.3",
                "chain": [
                    [
                        "subject": "CN=mirror.example.org", "issuer": "CN=Example CA", "names": ["mirror.example.org"],
                        "not_before": "2026-01-01T00:00:00.000Z", "not_after": "2027-01-01T00:00:00.000Z",
                        "pin": "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "pinned_by": [],
                        "pem": "-----BEGIN CERTIFICATE-----\n",
                    ]
                ], "stages": [["stage": "chain", "passed": true, "detail": "leads to a trusted authority"]],
                "policies": [
                    [
                        "name": "default", "version": 0, "accepted": true, "report_only": false, "expired": false,
                    ]
                ],
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var host = ""
        public var port = 443

        public init() {}

        public init(host: String, port: Int = 443) {
            self.host = host
            self.port = port
        }

        public static let summary = "Which server."
        public static let wireFields: WireFields<Self> = [
            .required("host", \.host, "A host name or an IP address.", .length(1...253)),
            .defaulted("port", \.port, "Its port.", .range(1...65_535)),
        ]
    }
}
