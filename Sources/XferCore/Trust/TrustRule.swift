public import XferModel

/// Checks of a server's certificates.
public struct TrustChecks: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The chain is valid up to one of the system's anchors, including dates and purpose. The host name is not checked.
    public static let systemChain = TrustChecks(rawValue: 1 << 0)
    /// The chain is valid with the pinned certificates as its only anchors. The host name is not checked.
    public static let pinnedChain = TrustChecks(rawValue: 1 << 1)
    /// The leaf certificate is valid for the host.
    public static let hostName = TrustChecks(rawValue: 1 << 2)
    /// A certificate of the chain that is valid to the pins equals a pin byte for byte.
    public static let certificate = TrustChecks(rawValue: 1 << 3)
    /// The key of a certificate of the chain that is valid to the system's anchors equals a pinned key.
    public static let chainKey = TrustChecks(rawValue: 1 << 4)
    /// The leaf's key equals a pinned key. The chain need not be valid.
    public static let leafKey = TrustChecks(rawValue: 1 << 5)

    /// The ordinary check, which libcurl makes by default.
    public static let ordinary: TrustChecks = [.systemChain, .hostName]
}

/// The four properties of a policy that decide its rule. Together they select one cell of the decision table in `rule`.
public struct TrustCell: Hashable, Sendable {
    public var mode: TrustPolicy.Mode
    public var hasPins: Bool
    public var allowsInvalidCertificates: Bool
    public var validatesDomainName: Bool

    public init(
        mode: TrustPolicy.Mode, hasPins: Bool, allowsInvalidCertificates: Bool, validatesDomainName: Bool
    ) {
        self.mode = mode
        self.hasPins = hasPins
        self.allowsInvalidCertificates = allowsInvalidCertificates
        self.validatesDomainName = validatesDomainName
    }

    public init(_ policy: TrustPolicy) {
        self.init(
            mode: policy.mode, hasPins: !policy.pins.isEmpty,
            allowsInvalidCertificates: policy.allowsInvalidCertificates,
            validatesDomainName: policy.validatesDomainName)
    }

    /// The rule for these properties. It follows AFSecurityPolicy's `evaluateServerTrust:forDomain:` with one
    /// difference: if `validatesDomainName` is true, the host name is also checked for pinned keys of invalid chains.
    public var rule: TrustRule {
        let name: TrustChecks = validatesDomainName ? .hostName : []
        switch (mode, hasPins, allowsInvalidCertificates, validatesDomainName) {
        case (.none, _, false, _):
            return .require(name.union(.systemChain))
        case (.none, _, true, true):
            return .reject(.nameOfAnything)
        case (.none, _, true, false):
            return .require([])
        case (.publicKey, false, _, _), (.certificate, false, _, _):
            return .reject(.noPins)
        case (.publicKey, true, false, _):
            return .require(name.union([.systemChain, .chainKey]))
        case (.publicKey, true, true, _):
            return .require(name.union(.leafKey))
        case (.certificate, true, false, _):
            return .require(name.union([.systemChain, .pinnedChain, .certificate]))
        case (.certificate, true, true, _):
            return .require(name.union([.pinnedChain, .certificate]))
        }
    }
}

/// A policy's requirements for a server.
public enum TrustRule: Hashable, Sendable {
    /// All of these checks have to succeed.
    case require(TrustChecks)
    /// No server could satisfy the policy. The service refuses to store such a policy. If one is stored nevertheless,
    /// it rejects every connection.
    case reject(TrustContradiction)
}

/// The reason why no server can satisfy a policy.
public enum TrustContradiction: Hashable, Sendable, CustomStringConvertible {
    case noPins
    case nameOfAnything
    case revocationOfAnything

    public var description: String {
        switch self {
        case .noPins: "a policy that pins has no pins: no server could satisfy it"
        case .nameOfAnything:
            "the name in a certificate without a trusted issuer proves nothing: allow_invalid_certificates without pins needs "
                + "validates_domain_name: false"
        case .revocationOfAnything:
            "only the chain shows who may sign OCSP responses: require_stapled_ocsp needs "
                + "allow_invalid_certificates: false"
        }
    }
}
