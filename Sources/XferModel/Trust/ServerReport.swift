/// The data that a server sent in its handshake, and the policies' judgement of it.
public struct ServerReport: Hashable, Sendable {
    public struct Certificate: Hashable, Sendable {
        public var subject: String
        public var issuer: String
        /// The DNS names and IP addresses of the subjectAltName.
        public var names: [String]
        public var notBefore: Timestamp
        public var notAfter: Timestamp
        public var key: KeyPin
        public var pem: String
        /// The policies that pin this certificate or its key.
        public var pinnedBy: [String]

        public init(
            subject: String, issuer: String, names: [String], notBefore: Timestamp, notAfter: Timestamp, key: KeyPin,
            pem: String, pinnedBy: [String]
        ) {
            self.subject = subject
            self.issuer = issuer
            self.names = names
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.key = key
            self.pem = pem
            self.pinnedBy = pinnedBy
        }
    }

    /// A single policy's verdict on the server's certificates.
    public struct Opinion: Hashable, Sendable {
        public var policy: String
        public var version: Int64
        /// The reason why the policy refuses the server; nil if it accepts the server.
        public var failure: TrustFailure?
        /// The failure that the policy would report if it were not `report_only`.
        public var violation: TrustFailure?
        public var isExpired: Bool

        public init(
            policy: String, version: Int64, failure: TrustFailure?, violation: TrustFailure?, isExpired: Bool
        ) {
            self.policy = policy
            self.version = version
            self.failure = failure
            self.violation = violation
            self.isExpired = isExpired
        }
    }

    public struct StageVerdict: Hashable, Sendable {
        public var stage: TrustStage
        public var isPassed: Bool
        public var detail: String

        public init(_ stage: TrustStage, isPassed: Bool, detail: String) {
            self.stage = stage
            self.isPassed = isPassed
            self.detail = detail
        }
    }

    public var origin: Origin
    public var tlsVersion: String?
    /// The certificates as sent, leaf first; empty if the handshake ended before the server sent them.
    public var chain: [Certificate] = []
    /// The verdict of each stage; empty if `chain` is empty.
    public var stages: [StageVerdict] = []
    /// The verdict of each policy, beginning with the host's policy.
    public var opinions: [Opinion] = []
    /// The reason why the server could not be judged, or why the handshake failed for a reason other than trust.
    public var failure: String?

    public init(_ origin: Origin) { self.origin = origin }

    /// True if all policies accept and the handshake succeeded.
    public var isAccepted: Bool { failure == nil && !opinions.isEmpty && opinions.allSatisfy { $0.failure == nil } }
}

/// The checks that a judgement consists of, in the order of a report.
public enum TrustStage: String, Hashable, Sendable, CaseIterable {
    /// The chain leads to an authority of the system.
    case chain
    case name
    case dates
    /// The OCSP response that the server staples. xferd does not query the OCSP responder itself.
    case revocation
    case pins
}
