import StrictJSON
public import XferModel

/// The data that a server sent in one TLS handshake, and the policies' judgement of it.
public struct ServerReportRecord: WireRecord, Hashable {
    public var host = ""
    public var port = 0
    public var verdict = OpenEnum<ServerVerdict>(.accepted)
    public var error: String?
    public var tlsVersion: String?
    public var chain: [ServerCertificateRecord] = []
    public var stages: [StageRecord] = []
    public var policies: [PolicyVerdictRecord] = []

    public init() {}

    public static let summary = "Data that a server sent in one TLS handshake, and the policies' judgement of it."
    public static let wireFields: WireFields<Self> = [
        .required("host", \.host, "Host of the server."),
        .required("port", \.port, "Port of the server."),
        .required("verdict", \.verdict, "Verdict that a task would get."),
        .optional("error", \.error, "Reason why the server could not be judged."),
        .optional("tls_version", \.tlsVersion, "The protocol of a successful handshake.", example: "TLSv1.3"),
        .required("chain", \.chain, "The certificates, leaf first, as the server sent them."),
        .required("stages", \.stages, "Result of each check by itself."),
        .required("policies", \.policies, "Each policy by itself; all have to accept."),
    ]

    public enum ServerVerdict: String, WireEnum {
        case accepted
        case refused
        /// No handshake took place.
        case unreachable
    }
}

/// A certificate that a server sent.
public struct ServerCertificateRecord: WireRecord, Hashable {
    public var subject = ""
    public var issuer = ""
    public var names: [String] = []
    public var notBefore = Timestamp(microseconds: 0)
    public var notAfter = Timestamp(microseconds: 0)
    public var pin = ""
    public var pinnedBy: [String] = []
    public var pem = ""

    public init() {}

    public static let summary = "A certificate that a server sent."
    public static let wireFields: WireFields<Self> = [
        .required("subject", \.subject, "Subject of the certificate."),
        .required("issuer", \.issuer, "Issuer of the certificate."),
        .required("names", \.names, "The host names and addresses in it."),
        .required("not_before", \.notBefore, "Start of its validity."),
        .required("not_after", \.notAfter, "End of its validity."),
        .required("pin", \.pin, "The pin of its key: sha256/BASE64."),
        .required("pinned_by", \.pinnedBy, "Names of the policies in question that pin it."),
        .required("pem", \.pem, "The certificate itself."),
    ]
}

/// One check of the handshake.
public struct StageRecord: WireRecord, Hashable {
    public var stage = OpenEnum<TrustStage>(.chain)
    public var passed = false
    public var detail = ""

    public init() {}

    public init(stage: TrustStage, passed: Bool, detail: String) {
        self.stage = OpenEnum(stage)
        self.passed = passed
        self.detail = detail
    }

    public static let summary = "One check of the server, independent of the policies."
    public static let wireFields: WireFields<Self> = [
        .required("stage", \.stage, "Name of the check."),
        .required("passed", \.passed, "Result of the check: by the ordinary rules, or by the pins."),
        .required("detail", \.detail, "Details of the result."),
    ]
}

extension TrustStage: WireEnum {}

/// The judgement of one policy, independent of the others.
public struct PolicyVerdictRecord: WireRecord, Hashable {
    public var name = ""
    public var version: Int64 = 0
    public var accepted = false
    public var reason: OpenEnum<FailureReason>?
    public var problem: String?
    public var verifyError: Int?
    public var reportOnly = false
    public var expired = false

    public init() {}

    public init(name: String, version: Int64, failure: TrustFailure?, violation: TrustFailure?, expired: Bool) {
        self.name = name
        self.version = version
        accepted = failure == nil
        let reported = failure ?? violation
        reason = reported.map { OpenEnum($0.reason) }
        problem = reported?.problem
        verifyError = reported.flatMap { $0.code == 0 ? nil : Int(clamping: $0.code) }
        reportOnly = failure == nil && violation != nil
        self.expired = expired
    }

    public static let summary = "Judgement of one policy by itself."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "The policy's name."),
        .required("version", \.version, "Its version."),
        .required("accepted", \.accepted, "True if it accepts the server."),
        .optional(
            "reason", \.reason, "pin_mismatch or revocation_unknown when nothing else is wrong, else trust_rejected."),
        .optional("problem", \.problem, "Description of the failure."),
        .optional("verify_error", \.verifyError, "OpenSSL's X509_V_ERR code, if a chain is at fault."),
        .required("report_only", \.reportOnly, "True if it found a failure that it only reports."),
        .required("expired", \.expired, "True if the policy has expired, so that only the ordinary check applies."),
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

    public static let summary = "A certificate that a server sent."
    public static let wireFields: WireFields<Self> = [
        .required("subject", \.subject, "Names in the certificate."),
        .required("pin", \.pin, "The pin of its key: sha256/BASE64."),
    ]
}
