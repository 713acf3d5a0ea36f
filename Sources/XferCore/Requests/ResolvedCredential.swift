public import XferModel

/// A credential whose secret has been read, for one attempt. Never stored, never shown.
public struct ResolvedCredential: Hashable, Sendable, CustomStringConvertible {
    public var scheme: Credential.Scheme
    /// Empty for `bearer`.
    public var user: String
    /// The password, token or secret access key; of `netrc` the file's text.
    public var secret: String
    /// Sent to these only.
    public var origins: [Origin]
    /// For a netrc file: it is also used for every other host that the file names, over https only. Set for a
    /// credential of the task's own whose client gave no origins.
    public var servesNamedHosts: Bool

    public init(
        scheme: Credential.Scheme, user: String, secret: String, origins: [Origin], servesNamedHosts: Bool = false
    ) {
        self.scheme = scheme
        self.user = user
        self.secret = secret
        self.origins = origins
        self.servesNamedHosts = servesNamedHosts
    }

    /// A credential that holds its secret itself; nil for one whose secret has to be read first. `home` is the
    /// request's origin, which the credential is bound to unless it names origins.
    public init?(inline credential: Credential?, home: Origin) {
        guard let credential, case .value(let secret) = credential.secret else { return nil }
        self.init(
            scheme: credential.scheme, user: credential.user, secret: secret,
            origins: credential.origins.isEmpty ? [home] : credential.origins,
            servesNamedHosts: credential.servesNamedHosts)
    }

    public var description: String { Redaction.mask }
}
