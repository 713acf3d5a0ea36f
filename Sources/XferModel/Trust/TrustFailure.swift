/// The reason why a policy does not trust a server, with the facts by which an operator can distinguish a renewed key
/// from an attack.
public struct TrustFailure: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// `pin_mismatch` if only the pins fail, `revocation_unknown` if only the stapled OCSP response fails, else
    /// `trust_rejected`.
    public var reason: FailureReason
    /// The host in the judged form, and the port.
    public var host: String
    public var port: UInt16
    /// Name and version of the policy that refused.
    public var policy: String
    public var policyVersion: Int64
    /// OpenSSL's X509_V_ERR code (X509_STORE_CTX_get_error(3)), 0 when only pins did not match.
    public var code: Int32
    /// A description of the failure, for example `certificate has expired; no pinned key in the chain`.
    public var problem: String
    /// The certificates that the server sent, leaf first; at most `maxChain`.
    public var chain: [ShownCertificate]
    /// True if the certificate is not valid for the host, whatever `code` is.
    public var isForOtherHost: Bool?

    public init(
        reason: FailureReason, host: String, port: UInt16, policy: String, policyVersion: Int64, code: Int32,
        problem: String, chain: [ShownCertificate], isForOtherHost: Bool? = nil
    ) {
        self.isForOtherHost = isForOtherHost
        self.reason = reason
        self.host = host
        self.port = port
        self.policy = policy
        self.policyVersion = policyVersion
        self.code = code
        self.problem = problem
        self.chain = chain
    }

    /// The highest number of certificates of a sent chain that are kept and shown.
    public static let maxChain = 10

    /// The failure as one sentence with all facts.
    public var description: String {
        let shown = chain.isEmpty ? "nothing" : chain.map(\.description).joined(separator: ", ")
        let error = code == 0 ? "" : " (OpenSSL error \(code))"
        return "\(host):\(port) is not trusted by policy \"\(policy)\" version \(policyVersion): \(problem)\(error); "
            + "the server sent \(shown)"
    }

    private enum CodingKeys: String, CodingKey {
        case reason, host, port, policy
        case policyVersion = "policy_version"
        case code, problem, chain
        case isForOtherHost = "other_host"
    }
}

/// A certificate a server sent, in short.
public struct ShownCertificate: Hashable, Sendable, Codable, CustomStringConvertible {
    /// RFC 2253 text without control characters, at most 200 bytes.
    public var subject: String
    public var key: KeyPin

    public init(subject: String, key: KeyPin) {
        self.subject = subject
        self.key = key
    }

    public var description: String { "\(key) (\(subject))" }
}

extension TransferError {
    /// Creates an error that is never retried: the failure lasts until the server or the policy is changed.
    public init(_ failure: TrustFailure, curlCode: Int32? = nil) {
        self.init(
            failure.reason, failure.description, isRetriable: false, curlCode: curlCode,
            host: "\(failure.host):\(failure.port)",
            cause: failure.reason == .trustRejected ? FailureCause(verification: failure.code) : nil)
        if failure.isForOtherHost == true, cause != .wrongHostName { furtherCauses = [.wrongHostName] }
        shownPin = failure.chain.first?.key.description
        policy = failure.policy
    }
}

extension FailureCause {
    /// The cause for an X509_V_ERR code (X509_STORE_CTX_get_error(3)). Returns nil for codes that need no remedy of
    /// their own.
    fileprivate init?(verification code: Int32) {
        switch code {
        // DEPTH_ZERO_SELF_SIGNED_CERT, SELF_SIGNED_CERT_IN_CHAIN.
        case 18, 19: self = .selfSigned
        // UNABLE_TO_GET_ISSUER_CERT, …_LOCALLY, UNABLE_TO_VERIFY_LEAF_SIGNATURE.
        case 2, 20, 21: self = .unknownAuthority
        // CERT_NOT_YET_VALID, CERT_HAS_EXPIRED.
        case 9, 10: self = .certificateDates
        // HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH.
        case 62, 64: self = .wrongHostName
        default: return nil
        }
    }
}
