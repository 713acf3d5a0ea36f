public import XferCore
public import XferModel

/// The properties that decide which connections a request may use: connections are shared only between equal
/// specifications.
public struct SessionSpec: Hashable, Sendable {
    public var key: SessionKey
    public var trust: TrustSettings
    /// The addresses to which its connections may be made.
    public var admission: AdmissionRules

    public init(
        key: SessionKey = SessionKey(), trust: TrustSettings = TrustSettings(),
        admission: AdmissionRules = AdmissionRules()
    ) {
        self.key = key
        self.trust = trust
        self.admission = admission
    }
}

/// The key of a connection pool: profile, trust policy versions, proxy, client certificate and ways of connecting.
public struct SessionKey: Hashable, Sendable {
    /// The profile's name, empty for none.
    public var profile: String
    /// Versions of the policies that judge the connection; empty is the ordinary check.
    public var trustVersions: [Int64]
    /// Proxy URL; nil connects directly (the environment's proxies are never used).
    public var proxy: String?
    /// The login for the proxy.
    public var proxyLogin: ProxyLogin?
    /// The certificate sent to an origin that requests one, instead of the policies' certificate.
    public var clientCertificate: ClientCertificateFiles?
    /// The way in which connections are made. libcurl's cache of names belongs to the session, so that `resolve` has no
    /// effect on others.
    public var connections: ConnectionRules

    public init(
        profile: String = "", trustVersions: [Int64] = [], proxy: String? = nil, proxyLogin: ProxyLogin? = nil,
        clientCertificate: ClientCertificateFiles? = nil, connections: ConnectionRules = ConnectionRules()
    ) {
        self.profile = profile
        self.trustVersions = trustVersions
        self.proxy = proxy
        self.proxyLogin = proxyLogin
        self.clientCertificate = clientCertificate
        self.connections = connections
    }

    /// True if a proxy, or the program behind a Unix socket, may answer instead of the server.
    var isRelayed: Bool { proxy != nil || connections.unixSocket != nil }

    /// True if the connection to the proxy itself uses TLS.
    var hasSecureProxy: Bool { proxy?.lowercased().hasPrefix("https://") ?? false }
}

/// The service's credential for a proxy. Never shown.
public struct ProxyLogin: Hashable, Sendable, CustomStringConvertible {
    public enum Scheme: Hashable, Sendable {
        /// The credential is sent at once (RFC 7617).
        case basic
        /// The credential is sent after a challenge, as a digest (RFC 7616).
        case digest
        /// After a challenge, a token is sent that is made with the daemon's own Kerberos ticket (RFC 4559), which has
        /// no password.
        case negotiate
    }

    public var scheme: Scheme
    public var user: String
    public var password: String

    public init(_ scheme: Scheme = .basic, user: String, password: String) {
        self.scheme = scheme
        self.user = user
        self.password = password
    }

    public var description: String { Redaction.mask }
}

/// The trust settings of a session's connections.
public struct TrustSettings: Hashable, Sendable {
    /// PEM bundle of trust anchors; nil is the system's.
    public var caFile: String?
    /// True if these anchors belong to a single task. A server that is accepted with them is not proven for other
    /// tasks.
    public var isOwnFile = false
    /// Policies for the origin, each of which has to accept.
    public var policies: AppliedPolicies
    /// Policies for an `https` proxy.
    public var proxyPolicies: AppliedPolicies

    /// Creates a specification; by default with the ordinary check of chain and host name.
    public init(
        caFile: String? = nil, policies: AppliedPolicies = .ordinary, proxyPolicies: AppliedPolicies = .ordinary
    ) {
        self.caFile = caFile
        self.policies = policies
        self.proxyPolicies = proxyPolicies
    }
}

/// Chooses the session of a hop, or throws why the hop is refused. Called on the attempt's loop, before the hop and
/// again in its TLS handshake, which is refused if the answer has changed: it must not block.
public typealias SessionChooser = @Sendable (HTTPURL) throws(TransferError) -> SessionSpec
