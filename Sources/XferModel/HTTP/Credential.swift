/// The identity of the service towards a server, and the source of its secret. Never shown.
public struct Credential: Hashable, Sendable, CustomStringConvertible {
    public enum Scheme: Hashable, Sendable, Codable {
        /// RFC 7617.
        case basic
        /// RFC 7616.
        case digest
        /// RFC 6750: the secret is the token.
        case bearer
        /// User name and password from a netrc(5) file; the secret is its path.
        case netrc
        /// AWS Signature Version 4; the user is the access key's id, the secret is the secret access key.
        case awsSigV4(region: String, service: String)
        /// RFC 4559, for proxies only: a token of the service's own Kerberos ticket. Has neither user nor secret.
        case negotiate
    }

    public var scheme: Scheme
    /// Empty for `bearer` and `negotiate`. For `netrc` the account to log in with, empty for the file's first one.
    public var user: String
    public var secret: Secret
    /// The password in the URL, for a netrc file that has none for the account in the URL.
    public var urlPassword: String?
    /// The only origins to which the credential is sent; empty is the origin of the request's URL (a profile's: of its
    /// `base_url`).
    public var origins: [Origin]

    public init(scheme: Scheme = .basic, user: String, secret: Secret, origins: [Origin] = []) {
        self.scheme = scheme
        self.user = user
        self.secret = secret
        self.origins = origins
    }

    /// Creates a credential of user name and password for basic authentication, as in a URL's user info.
    public init(user: String, password: String) {
        self.init(user: user, secret: .value(password))
    }

    /// The credential for a URL with user info: the account in the URL is looked up in a netrc file. Other credentials,
    /// and those for other servers, ignore it.
    public func completed(by userInfo: Credential?) -> Credential {
        guard scheme == .netrc, user.isEmpty, origins.isEmpty, let userInfo, userInfo.scheme == .basic else {
            return self
        }
        var completed = self
        completed.user = userInfo.user
        if case .value(let password) = userInfo.secret, !password.isEmpty { completed.urlPassword = password }
        return completed
    }

    /// The credential for another URL with user info: the account in that URL is looked up in a netrc file.
    public func renewed(by userInfo: Credential) -> Credential {
        var renewed = self
        (renewed.user, renewed.urlPassword) = ("", nil)
        return renewed.completed(by: userInfo)
    }

    /// True if a task's own credential is sent to every host that its netrc file names, and not to the origin of the
    /// request's URL alone.
    public var servesNamedHosts: Bool { scheme == .netrc && origins.isEmpty }

    public var description: String { Redaction.mask }
}

/// A secret, or the place it is read from at each attempt.
public enum Secret: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The secret itself, which is stored and never shown.
    case value(String)
    /// The file's content without the newline at its end; absolute path, readable by its owner only.
    case file(String)
    /// A file below `$CREDENTIALS_DIRECTORY` (systemd.exec(5), LoadCredential=).
    case systemdCredential(String)
    /// A variable of the daemon's environment.
    case environment(String)

    public var description: String { Redaction.mask }
}

extension Credential: Codable {
    private enum CodingKeys: String, CodingKey {
        case scheme, user, secret, origins, urlPassword
        /// The key of a basic credential's inline password, from the time before other schemes existed.
        case password
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        user = try container.decode(String.self, forKey: .user)
        scheme = try container.decodeIfPresent(Scheme.self, forKey: .scheme) ?? .basic
        origins = try container.decodeIfPresent([Origin].self, forKey: .origins) ?? []
        urlPassword = try container.decodeIfPresent(String.self, forKey: .urlPassword)
        if let password = try container.decodeIfPresent(String.self, forKey: .password) {
            secret = .value(password)
        } else {
            secret = try container.decode(Secret.self, forKey: .secret)
        }
    }

    /// A basic credential's text never changes: fingerprints of rows depend on it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(user, forKey: .user)
        if case .value(let password) = secret, scheme == .basic, origins.isEmpty {
            return try container.encode(password, forKey: .password)
        }
        try container.encode(scheme, forKey: .scheme)
        try container.encode(secret, forKey: .secret)
        if !origins.isEmpty { try container.encode(origins, forKey: .origins) }
        try container.encodeIfPresent(urlPassword, forKey: .urlPassword)
    }
}
