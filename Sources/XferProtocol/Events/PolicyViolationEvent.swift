public import XferModel

/// `policy.violation`.
public struct PolicyViolationEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.policyViolation)
    public var policy: String = ""
    public var version: Int64 = 0
    public var host: String = ""
    public var port: Int = 0
    public var reason: String = ""
    public var problem: String = ""
    public var verifyError: Int?
    public var chain: [ShownCertificateRecord] = []

    public init() {}

    public init(_ failure: TrustFailure) {
        policy = failure.policy
        version = failure.policyVersion
        host = failure.host
        port = Int(clamping: failure.port)
        reason = failure.reason.rawValue
        problem = failure.problem
        verifyError = failure.code == 0 ? nil : Int(clamping: failure.code)
        chain = failure.chain.map { ShownCertificateRecord($0) }
    }

    public static let summary = "A report_only trust policy would have refused a server; the connection was used."
    public static let wireFields: WireFields<Self> = [
        .required("policy", \.policy, "The policy's name."),
        .required("version", \.version, "Its version."),
        .required("host", \.host, "The server's host."),
        .required("port", \.port, "The server's port."),
        .required(
            "reason", \.reason, "pin_mismatch or revocation_unknown when nothing else is wrong, else trust_rejected."),
        .required("problem", \.problem, "What is wrong."),
        .optional("verify_error", \.verifyError, "OpenSSL's X509_V_ERR code, where a chain is at fault."),
        .required("chain", \.chain, "What the server showed, leaf first."),
    ]
}

/// A certificate that a server showed, in short.
public struct ShownCertificateRecord: WireRecord, Hashable {
    public var subject: String = ""
    public var pin: String = ""

    public init() {}

    public init(_ shown: ShownCertificate) {
        subject = shown.subject
        pin = shown.key.description
    }

    public static let summary = "A certificate that a server showed."
    public static let wireFields: WireFields<Self> = [
        .required("subject", \.subject, "Whom it names."),
        .required("pin", \.pin, "The pin of its key: sha256/BASE64."),
    ]
}
