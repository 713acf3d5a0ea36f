public import XferModel

/// How one hop's request says who it comes from. The credential's origins decide at every hop anew.
public enum HopAuthentication: Hashable, Sendable, CustomStringConvertible {
    case none
    /// The value of `Authorization`, sent at once.
    case field(String)
    /// Shown when the server has asked for it (RFC 7616).
    case digest(user: String, password: String)
    /// AWS Signature Version 4.
    case signature(RequestSigner)

    /// - Parameter hasOwnField: the request brings an `Authorization` of the client's own to this hop, which wins.
    public init(_ credential: ResolvedCredential?, hop: HTTPURL, hasOwnField: Bool = false) {
        guard let credential, !hasOwnField, credential.origins.contains(hop.origin) else {
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
            let login = Netrc(credential.secret).login(for: ServerName(host: hop.host).description)
            self = login.map { .basic(user: $0.user, password: $0.password) } ?? .none
        case .awsSigV4(let region, let service):
            self = .signature(
                RequestSigner(
                    keyID: credential.user, secretKey: credential.secret, region: region, service: service))
        }
    }

    /// RFC 7617.
    private static func basic(user: String, password: String) -> HopAuthentication {
        .field("Basic " + Base64.encode("\(user):\(password)".utf8))
    }

    public var description: String { self == .none ? "none" : Redaction.mask }
}

/// What a request is signed with.
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
