public import XferModel

/// A trust policy coming out.
public struct PolicyRecord: WireRecord, Hashable {
    public var name = ""
    public var version: Int64 = 0
    public var origin = OpenEnum<PolicyOrigin>(.client)
    public var mode = OpenEnum<TrustPolicy.Mode>(.none)
    public var pins: [PinRecord] = []
    public var hosts: [String] = []
    public var allowInvalidCertificates = false
    public var validatesDomainName = true
    public var reportOnly = false
    public var expiresAt: Timestamp?
    public var minTLS = OpenEnum<TLSVersion>(.tls12)
    public var clientCertificate: ClientCertificateRecord?
    public var requireStapledOCSP: Bool?

    public init() {}

    /// - Parameter pinText: a pin as `policy.set` takes it.
    public init(_ policy: TrustPolicy, origin: PolicyOrigin, pinText: (Pin) -> String) {
        name = policy.name
        version = policy.version
        self.origin = OpenEnum(origin)
        mode = OpenEnum(policy.mode)
        pins = policy.pins.map { PinRecord($0, text: pinText($0)) }
        hosts = policy.hosts.map(\.description)
        allowInvalidCertificates = policy.allowsInvalidCertificates
        validatesDomainName = policy.validatesDomainName
        reportOnly = policy.isReportOnly
        expiresAt = policy.expiresAt
        minTLS = OpenEnum(policy.minimumTLS)
        clientCertificate = policy.clientCertificate.map { ClientCertificateRecord($0) }
        requireStapledOCSP = policy.requiresStapledOCSP ? true : nil
    }

    public static let summary = "Rule for judging the certificates of some hosts' servers."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "The policy's name."),
        .required(
            "version", \.version,
            "Number of this version; every change increases it. 0 is the built-in default."),
        .required("origin", \.origin, "Origin of the definition. A policy from the configuration is changed there."),
        .required("mode", \.mode, "Requirement for a server."),
        .required("pins", \.pins, "Pinned keys or certificates; one that matches suffices."),
        .required("hosts", \.hosts, "Host patterns; none for the default policy."),
        .required(
            "allow_invalid_certificates", \.allowInvalidCertificates,
            "True if chains are accepted that do not lead to an authority of the system."),
        .required("validates_domain_name", \.validatesDomainName, "True if the leaf has to be valid for the host."),
        .required("report_only", \.reportOnly, "True if it only reports what it would have refused."),
        .optional("expires_at", \.expiresAt, "Time from which only the ordinary check applies."),
        .required("min_tls", \.minTLS, "Lowest TLS version of a connection."),
        .optional("client_certificate", \.clientCertificate, "Client certificate for servers that request one."),
        .optional(
            "require_stapled_ocsp", \.requireStapledOCSP,
            "True if a server has to staple an OCSP response that shows that its certificate is not revoked; default "
                + "false."),
    ]
}

/// The origin of a policy.
public enum PolicyOrigin: String, WireEnum {
    case builtIn = "built_in"
    case configuration
    /// A caller of `policy.set`.
    case client = "rpc"
}

/// A pin coming out.
public struct PinRecord: WireRecord, Hashable {
    public var pin = ""
    public var key = ""
    public var notAfter: Timestamp?

    public init() {}

    init(_ pin: Pin, text: String) {
        self.pin = text
        key = pin.key.description
        if case .certificate(let certificate) = pin { notAfter = certificate.notAfter }
    }

    public static let summary = "Pin with which a server's chain is compared."
    public static let wireFields: WireFields<Self> = [
        .required("pin", \.pin, "The form of policy.set: sha256/BASE64, or a certificate in PEM."),
        .required("key", \.key, "The pin of its key: sha256/BASE64."),
        .optional("not_after", \.notAfter, "Expiry of a pinned certificate."),
    ]
}
