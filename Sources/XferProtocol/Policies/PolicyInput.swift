import StrictJSON
public import XferModel

/// The trust policy in a call of `policy.set`.
public struct PolicyInput: WireInput, Hashable {
    public var name = ""
    public var mode = TrustPolicy.Mode.none
    public var pins: [String] = []
    public var hosts: [String] = []
    public var allowInvalidCertificates = false
    public var validatesDomainName = true
    public var reportOnly = false
    public var expiresAt: Timestamp?
    public var minTLS = TLSVersion.tls12
    public var clientCertificate: ClientCertificateRecord?
    public var requireStapledOCSP = false

    public init() {}

    public static let summary = "Rule for judging the certificates of some hosts' servers."
    public static let wireFields: WireFields<Self> = [
        .required(
            "name", \.name,
            "Lower-case letters, digits, -, _ and .; the policy \"default\" is for hosts that no pattern matches.",
            .length(1...64), example: "mirror"),
        .defaulted(
            "mode", \.mode, "Requirement for a server: none (the ordinary check), public_key or certificate."),
        .defaulted(
            "pins", \.pins,
            "Pins: each is sha256/BASE64 of a key (RFC 7469) or PEM text of certificates; one match suffices.",
            example: ["sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="]),
        .defaulted(
            "hosts", \.hosts,
            "example.org, *.example.org (one label more) or .example.org (any depth), each with an optional :port.",
            example: [".example.org"]),
        .defaulted(
            "allow_invalid_certificates", \.allowInvalidCertificates,
            "Accept chains that do not lead to an authority of the system."),
        .defaulted(
            "validates_domain_name", \.validatesDomainName, "True if the leaf certificate must be valid for the host."),
        .defaulted(
            "report_only", \.reportOnly,
            "Report with policy.violation what would be refused; decide as if this policy did not exist."),
        .optional(
            "expires_at", \.expiresAt,
            "Time from which only the ordinary check applies; events and logs report it."),
        .defaulted("min_tls", \.minTLS, "Lowest TLS version of a connection."),
        .optional("client_certificate", \.clientCertificate, "Client certificate for servers that request one."),
        .defaulted(
            "require_stapled_ocsp", \.requireStapledOCSP,
            "Require a stapled OCSP response that shows that the server's certificate is not revoked."),
    ]
}

/// The files of a client certificate.
public struct ClientCertificateRecord: WireInput, Hashable {
    public var certificate = ""
    public var key = ""

    public init() {}

    public init(_ files: ClientCertificateFiles) {
        certificate = files.certificate
        key = files.key
    }

    public var files: ClientCertificateFiles { ClientCertificateFiles(certificate: certificate, key: key) }

    public static let summary = "Files from which the service reads a client certificate."
    public static let wireFields: WireFields<Self> = [
        .required(
            "certificate", \.certificate, "Absolute path of the PEM file with the leaf and its intermediates.",
            .length(1...TaskLimits.pathLength), .absolutePath),
        .required(
            "key", \.key, "Absolute path of the PEM file with its key, readable by its owner only.",
            .length(1...TaskLimits.pathLength), .absolutePath),
    ]
}

extension TrustPolicy.Mode: WireEnum {}
extension TLSVersion: WireEnum {}
