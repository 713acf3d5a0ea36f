public import XferModel

/// Checks a credential before it is stored, and its secret after it has been read.
public enum CredentialRules {
    /// The kind of server that receives the credential.
    public enum Recipient: Sendable {
        case origin
        case proxy
    }

    /// Checks a credential of a task, a profile or the configuration; throws the first fault.
    ///
    /// - Parameter isOperator: only operators may refer to files and variables. The service reads them with its own
    ///   rights, so a guest could have any of them sent to a server of its choice.
    public static func check(
        _ credential: Credential, for recipient: Recipient = .origin, isOperator: Bool
    ) throws(CredentialFault) {
        if !isOperator, credential.secret.isReference {
            throw CredentialFault("secret", "only operators may refer to a file or a variable", isPermission: true)
        }
        let hasUser = !credential.user.isEmpty
        switch credential.scheme {
        case .basic where credential.user.contains(":"), .netrc where credential.user.contains(":"):
            throw CredentialFault("user", "a user name with a colon cannot be separated from its password (RFC 7617)")
        case .digest where !hasUser:
            throw CredentialFault("user", "is missing")
        case .negotiate where recipient == .origin:
            throw CredentialFault("scheme", "is for proxies only")
        case .negotiate where !isOperator:
            throw CredentialFault(
                "scheme", "only operators may use the service's own Kerberos ticket", isPermission: true)
        case .bearer where hasUser, .negotiate where hasUser:
            throw CredentialFault("user", "has no meaning for this kind of credential")
        case .awsSigV4(let region, let service):
            if !hasUser { throw CredentialFault("user", "the access key's id is missing") }
            if !isName(region) { throw CredentialFault("region", "is not the name of a region, for example us-east-1") }
            if !isName(service) { throw CredentialFault("service", "is not the name of a service, for example s3") }
            if !isName(credential.user) { throw CredentialFault("user", "is not the id of an access key") }
        case .basic, .digest, .bearer, .netrc, .negotiate:
            break
        }
        if recipient == .proxy, ![.basic, .digest, .negotiate].contains(credential.scheme) {
            throw CredentialFault("scheme", "a proxy takes basic, digest or negotiate")
        }
        if !isOneLine(credential.user) { throw CredentialFault("user", "contains a line break or NUL") }
        if case .value(let secret) = credential.secret, let problem = problem(of: secret, for: credential.scheme) {
            throw CredentialFault("secret", problem)
        }
    }

    /// The defect of a secret that has been read, or nil if it can be used. The text never contains the secret.
    public static func problem(of secret: String, for scheme: Credential.Scheme) -> String? {
        if scheme == .netrc { return secret.utf8.contains(0) ? "contains NUL" : nil }
        if !isOneLine(secret) { return "contains a line break or NUL" }
        switch scheme {
        case .bearer where secret.isEmpty || !secret.utf8.allSatisfy({ (33...126).contains($0) }):
            return "is not a token (RFC 6750): expected visible ASCII characters"
        case .awsSigV4 where secret.isEmpty:
            return "is empty"
        case .basic, .digest, .bearer, .netrc, .awsSigV4, .negotiate:
            return nil
        }
    }

    private static func isOneLine(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    /// True if the text has only ASCII letters, digits, hyphens and underscores: other characters could change the
    /// scope of the signature.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}

/// The defect of a credential. It never contains the secret.
public struct CredentialFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field within the credential.
    public let field: String
    public let reason: String
    /// True if the credential is valid, but this caller may not use it.
    public let isPermission: Bool

    init(_ field: String, _ reason: String, isPermission: Bool = false) {
        self.field = field
        self.reason = reason
        self.isPermission = isPermission
    }

    public var description: String { "\(field): \(reason)" }
}

extension Secret {
    /// True if the service reads the secret from elsewhere, with its own rights.
    public var isReference: Bool {
        switch self {
        case .value: false
        case .file, .systemdCredential, .environment: true
        }
    }
}
