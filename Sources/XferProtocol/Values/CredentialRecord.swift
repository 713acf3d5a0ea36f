public import StrictJSON
public import XferModel

/// The identity of the service towards a server. In answers all but the scheme is `***`.
public struct CredentialRecord: WireInput, Hashable {
    public var scheme: CredentialScheme?
    public var user: String?
    public var password: SecretText?
    public var secret: SecretText?
    public var region: String?
    public var service: String?
    public var origins: [Origin]?

    public init() {}

    public init(user: String, password: String) {
        self.user = user
        self.password = .value(password)
    }

    /// The credential in the form in which it is shown.
    ///
    /// - Parameter showsPlaces: true if the place that a secret is read from is shown, to operators.
    public init(masking credential: Credential, showsPlaces: Bool = false) {
        let scheme = CredentialScheme(credential.scheme)
        self.scheme = scheme == .basic ? nil : scheme
        if !credential.user.isEmpty { user = Redaction.mask }
        let place = showsPlaces ? SecretReference(credential.secret) : nil
        let shown = place.map { SecretText.reference($0) } ?? .value(Redaction.mask)
        if scheme.hasPassword { password = shown }
        if scheme.hasSecret { secret = shown }
        origins = credential.origins.isEmpty ? nil : credential.origins
    }

    public static let summary =
        "Credential. When shown, everything except scheme and origins is ***; in a profile, a secret's place is shown."
    public static let wireFields: WireFields<Self> = [
        .optional("scheme", \.scheme, "Authentication scheme; default basic."),
        .optional(
            "user", \.user,
            "User name (basic, digest), the access key's id (sigv4), or the account to look up (netrc).",
            .length(1...256), .printable),
        .optional("password", \.password, "Password (basic, digest): text, or where it is read from at every attempt."),
        .optional(
            "secret", \.secret,
            "The token (bearer), the secret access key (sigv4) or the netrc(5) file (netrc): text, or where it is read from."
        ),
        .optional("region", \.region, "The signature's region (sigv4), for example us-east-1.", .length(1...64)),
        .optional("service", \.service, "The signature's service (sigv4); default s3.", .length(1...64)),
        .optional(
            "origins", \.origins,
            "Origins to which it is sent, scheme://host[:port] each; default is the origin of the URL, or of a profile's base_url.",
            .count(1...64), example: ["https://api.example.org"]),
    ]

    public func validate() throws(WireError) {
        let scheme = scheme ?? .basic
        if scheme.hasUser, user == nil { throw WireError(.missing, at: "user", expected: "a value for this field") }
        if !scheme.hasUser, scheme != .netrc, user != nil { throw Self.meaningless("user", scheme) }
        if scheme.hasPassword {
            if secret != nil { throw Self.meaningless("secret", scheme) }
            if password == nil { throw WireError(.missing, at: "password", expected: "a value for this field") }
        } else {
            if password != nil { throw Self.meaningless("password", scheme) }
            if scheme.hasSecret, secret == nil {
                throw WireError(.missing, at: "secret", expected: "a value for this field")
            }
            if !scheme.hasSecret, secret != nil { throw Self.meaningless("secret", scheme) }
        }
        if scheme == .basic, user?.contains(":") == true {
            throw WireError(.invalidValue, at: "user", expected: "a user name without a colon (RFC 7617)")
        }
        if scheme == .sigv4 {
            if region == nil { throw WireError(.missing, at: "region", expected: "a value for this field") }
        } else {
            if region != nil { throw Self.meaningless("region", scheme) }
            if service != nil { throw Self.meaningless("service", scheme) }
        }
    }

    private static func meaningless(_ field: String, _ scheme: CredentialScheme) -> WireError {
        WireError(.conflictingFields, at: field, expected: "the field to be left out with scheme \(scheme.rawValue)")
    }

    /// The credential of the record.
    public var credential: Credential {
        let model: Credential.Scheme =
            switch scheme ?? .basic {
            case .basic: .basic
            case .digest: .digest
            case .bearer: .bearer
            case .netrc: .netrc
            case .negotiate: .negotiate
            case .sigv4: .awsSigV4(region: region ?? "", service: service ?? "s3")
            }
        return Credential(
            scheme: model, user: user ?? "", secret: (password ?? secret ?? .value("")).secret, origins: origins ?? [])
    }
}

/// The kinds of credentials.
public enum CredentialScheme: String, WireEnum {
    case basic, digest, bearer, netrc
    /// AWS Signature Version 4.
    case sigv4
    /// RFC 4559 with the daemon's Kerberos ticket; proxies only.
    case negotiate

    init(_ scheme: Credential.Scheme) {
        self =
            switch scheme {
            case .basic: .basic
            case .digest: .digest
            case .bearer: .bearer
            case .netrc: .netrc
            case .awsSigV4: .sigv4
            case .negotiate: .negotiate
            }
    }

    var hasUser: Bool { self != .bearer && self != .netrc && self != .negotiate }
    var hasPassword: Bool { self == .basic || self == .digest }
    var hasSecret: Bool { !hasPassword && self != .negotiate }
}

/// A secret as text, or where the service reads it: `{"file": "/path"}`, `{"systemd": "name"}`, `{"env": "VARIABLE"}`.
public enum SecretText: WireValue, Hashable {
    case value(String)
    case reference(SecretReference)

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .string(let text):
            guard mode == .lenient || text.utf8.count <= 4096 else {
                throw WireError(.outOfRange, expected: "at most 4096 bytes")
            }
            self = .value(text)
        case .object: self = .reference(try SecretReference(wire: value, mode: mode))
        default: throw .wrongType(expected: "a string, or an object with file, systemd or env")
        }
    }

    public var wire: JSONValue {
        switch self {
        case .value(let text): .string(text)
        case .reference(let reference): reference.wire
        }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["anyOf": [["type": "string", "maxLength": 4096], SecretReference.schema(in: &schemas)]]
    }

    var secret: Secret {
        switch self {
        case .value(let text): .value(text)
        case .reference(let reference): reference.secret
        }
    }
}

/// The place from which the service reads a secret at every attempt; only operators may set it.
public struct SecretReference: WireInput, Hashable {
    public var file: String?
    public var systemd: String?
    public var env: String?

    public init() {}

    public init(file: String) { self.file = file }

    public static let summary =
        "Place from which the service reads a secret at every attempt; only operators may set one."
    public static let wireFields: WireFields<Self> = [
        .optional(
            "file", \.file, "Absolute path of a file that only its owner can read; a newline at its end is ignored.",
            .length(1...TaskLimits.pathLength), .printable, .absolutePath, example: "/etc/xferd/api-token"
        )
        .restricted(to: .operators),
        .optional(
            "systemd", \.systemd, "A credential of the unit (systemd.exec(5), LoadCredential=).", .length(1...255),
            .form("^[^/]+$", expected: "a credential's name, not a path") { !$0.contains("/") && !$0.hasPrefix(".") }
        )
        .restricted(to: .operators),
        .optional(
            "env", \.env, "A variable of the daemon's environment.", .length(1...255),
            .form("^[A-Za-z_][A-Za-z0-9_]*$", expected: "a variable's name") { name in
                name.utf8.allSatisfy {
                    (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
                } && name.utf8.first.map { !(48...57).contains($0) } == true
            }
        )
        .restricted(to: .operators),
    ]

    public func validate() throws(WireError) {
        guard [file, systemd, env].compactMap(\.self).count == 1 else {
            throw WireError(.conflictingFields, expected: "exactly one of file, systemd, env")
        }
    }

    /// Creates the reference, or returns nil for a secret that is given as a value.
    public init?(_ place: Secret) {
        switch place {
        case .value: return nil
        case .file(let path): file = path
        case .systemdCredential(let name): systemd = name
        case .environment(let name): env = name
        }
    }

    var secret: Secret {
        if let file { return .file(file) }
        if let systemd { return .systemdCredential(systemd) }
        return .environment(env ?? "")
    }
}
