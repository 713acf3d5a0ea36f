/// A rule for judging server certificates of the hosts that match. Class of origin: AFSecurityPolicy.
///
/// It contains the operator's input. `XferCore.TrustPolicyRules` checks it, `XferCore.TrustDecision` applies it.
public struct TrustPolicy: Hashable, Sendable, Codable {
    /// The requirements of the policy in addition to, or instead of, a chain to a trusted authority.
    public enum Mode: String, Sendable, Codable, CaseIterable {
        /// The ordinary check; pins are ignored.
        case none
        /// A chain that is valid with the pinned certificates as its only anchors.
        case certificate
        /// A chain that contains a pinned key.
        case publicKey = "public_key"
    }

    /// Lower-case letters, digits, `-`, `_` and `.`; `default` is the policy for hosts that no pattern matches.
    public var name: String
    /// The version, which increases with every change; 0 for the built-in default. Only requests with equal policy
    /// versions share connections.
    public var version: Int64
    public var mode: Mode
    /// The server has to match only one pin. With several pins a key can be replaced without an outage.
    public var pins: [Pin]
    /// True if chains are accepted that do not lead to a trusted authority.
    public var allowsInvalidCertificates: Bool
    /// True if the leaf must be valid for the host.
    public var validatesDomainName: Bool
    /// Hosts that the policy applies to; empty only for the default.
    public var hosts: [HostPattern]
    /// True if violations are only reported. The policy that would apply without this one decides.
    public var isReportOnly: Bool
    /// The time from which the ordinary check replaces the policy; events report that.
    public var expiresAt: Timestamp?
    public var minimumTLS: TLSVersion
    /// The certificate for servers that request one.
    public var clientCertificate: ClientCertificateFiles?
    /// True if a server is refused unless it staples an OCSP response which states that its certificate is not revoked.
    public var requiresStapledOCSP: Bool {
        get { requiresStaple ?? false }
        set { requiresStaple = newValue ? true : nil }
    }
    /// True or nil, never false. Rows of earlier versions lack this member, and such a policy must equal one with nil.
    private var requiresStaple: Bool?

    public init(
        name: String, version: Int64 = 0, mode: Mode = .none, pins: [Pin] = [], allowsInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true, hosts: [HostPattern] = [], isReportOnly: Bool = false,
        expiresAt: Timestamp? = nil, minimumTLS: TLSVersion = .tls12, clientCertificate: ClientCertificateFiles? = nil,
        requiresStapledOCSP: Bool = false
    ) {
        self.name = name
        self.version = version
        self.mode = mode
        self.pins = pins
        self.allowsInvalidCertificates = allowsInvalidCertificates
        self.validatesDomainName = validatesDomainName
        self.hosts = hosts
        self.isReportOnly = isReportOnly
        self.expiresAt = expiresAt
        self.minimumTLS = minimumTLS
        self.clientCertificate = clientCertificate
        self.requiresStapledOCSP = requiresStapledOCSP
    }

    /// The name of the policy for hosts that no pattern matches.
    public static let defaultName = "default"

    /// The default policy unless the operator writes one. It requires a chain to a trusted authority and the host's
    /// name.
    public static let builtInDefault = TrustPolicy(name: defaultName)

    public var isDefault: Bool { name == Self.defaultName }

    private enum CodingKeys: String, CodingKey {
        case name, version, mode, pins
        case allowsInvalidCertificates = "allow_invalid_certificates"
        case validatesDomainName = "validates_domain_name"
        case hosts
        case isReportOnly = "report_only"
        case expiresAt = "expires_at"
        case minimumTLS = "min_tls"
        case clientCertificate = "client_certificate"
        case requiresStaple = "require_stapled_ocsp"
    }
}

/// A TLS protocol version. In a policy it is the lowest that a connection may use.
public enum TLSVersion: String, Sendable, Codable, CaseIterable, Comparable {
    case tls12 = "1.2"
    case tls13 = "1.3"

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// Paths of a client certificate and its key, as PEM; absolute, read by the service.
public struct ClientCertificateFiles: Hashable, Sendable, Codable {
    /// The leaf, then the intermediates a server needs.
    public var certificate: String
    /// The private key. Its file must be readable by the owner only.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
