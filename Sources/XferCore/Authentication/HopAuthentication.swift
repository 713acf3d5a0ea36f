public import XferModel

/// The authentication of one hop's request. The decision is made at every hop from the credential's origins.
public enum HopAuthentication: Hashable, Sendable, CustomStringConvertible {
    case none
    /// The value of `Authorization`, sent at once.
    case field(String)
    /// A credential that is sent as an answer to the server's challenge (RFC 7616).
    case digest(user: String, password: String)
    /// AWS Signature Version 4.
    case signature(RequestSigner)

    /// Decides the authentication of a request to `hop`: `none` unless the credential may be sent there.
    ///
    /// A netrc file may apply to other hosts than the credential's origins, as with curl's `--netrc` after redirects.
    /// For such a host only a `machine` entry counts: the `default` entry would give the password to every host to
    /// which a server redirects.
    ///
    /// - Parameter hasOwnField: true if the request sends an `Authorization` field from the client to this hop. That
    ///   field replaces the credential.
    public init(_ credential: ResolvedCredential?, hop: HTTPURL, hasOwnField: Bool = false) {
        guard let credential, !hasOwnField else {
            self = .none
            return
        }
        let isBound = credential.origins.contains(hop.origin)
        let isNamed = credential.scheme == .netrc && credential.servesNamedHosts && hop.scheme == .https
        guard isBound || isNamed else {
            self = .none
            return
        }
        switch credential.scheme {
        case .basic:
            self = .basic(user: credential.user, password: credential.secret)
        case .bearer:
            self = .field("Bearer " + credential.secret)
        case .digest:
            self = .digest(user: credential.user, password: credential.secret)
        case .netrc:
            let (netrc, host) = (Netrc(credential.secret), ServerName(host: hop.host).description)
            if isBound, !credential.user.isEmpty {
                let password = netrc.login(for: host, user: credential.user)?.password ?? credential.urlPassword
                self = .basic(user: credential.user, password: password ?? "")
                return
            }
            let login = isBound ? netrc.login(for: host) : netrc.login(naming: host)
            self = login.map { .basic(user: $0.user, password: $0.password) } ?? .none
        // No origin gets it: `CredentialRules.check`.
        case .negotiate:
            self = .none
        case .awsSigV4(let region, let service):
            self = .signature(
                RequestSigner(
                    keyID: credential.user, secretKey: credential.secret, region: region, service: service))
        }
    }

    /// Returns basic authentication (RFC 7617).
    private static func basic(user: String, password: String) -> HopAuthentication {
        .field("Basic " + Base64.encode("\(user):\(password)".utf8))
    }

    public var description: String { self == .none ? "none" : Redaction.mask }
}

/// The key and the scope of a request's signature.
public struct RequestSigner: Hashable, Sendable, CustomStringConvertible {
    public var keyID: String
    public var secretKey: String
    public var region: String
    public var service: String

    public init(keyID: String, secretKey: String, region: String, service: String) {
        self.keyID = keyID
        self.secretKey = secretKey
        self.region = region
        self.service = service
    }

    public var description: String { Redaction.mask }
}

/// A credential whose secret has been read, for one attempt. Never stored, never shown.
public struct ResolvedCredential: Hashable, Sendable, CustomStringConvertible {
    public var scheme: Credential.Scheme
    /// Empty for `bearer`; see `Credential`.
    public var user: String
    /// The password, token or secret access key; of `netrc` the file's text.
    public var secret: String
    /// The origins that receive the credential. `servesNamedHosts` is the only exception.
    public var origins: [Origin]
    /// True if a netrc file also serves every other host that it lists, over https only. True for a task's own
    /// credential without origins.
    public var servesNamedHosts: Bool
    /// See `Credential`.
    public var urlPassword: String?

    public init(
        scheme: Credential.Scheme, user: String, secret: String, origins: [Origin], servesNamedHosts: Bool = false
    ) {
        self.scheme = scheme
        self.user = user
        self.secret = secret
        self.origins = origins
        self.servesNamedHosts = servesNamedHosts
    }

    /// Resolves a credential that contains its secret. Returns nil if the secret has to be read from elsewhere. `home`
    /// is the request's origin: a credential without origins is bound to it.
    public init?(inline credential: Credential?, home: Origin) {
        guard let credential, case .value(let secret) = credential.secret else { return nil }
        self.init(
            scheme: credential.scheme, user: credential.user, secret: secret,
            origins: credential.origins.isEmpty ? [home] : credential.origins,
            servesNamedHosts: credential.servesNamedHosts)
        urlPassword = credential.urlPassword
    }

    public var description: String { Redaction.mask }
}
