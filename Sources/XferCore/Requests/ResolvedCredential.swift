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

    public init(scheme: Credential.Scheme, user: String, secret: String, origins: [Origin]) {
        self.scheme = scheme
        self.user = user
        self.secret = secret
        self.origins = origins
    }

    public var description: String { Redaction.mask }
}
