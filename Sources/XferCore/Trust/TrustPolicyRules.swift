public import XferModel

/// The rules that decide if a policy may be written.
public enum TrustPolicyRules {
    public static let maxPins = 64
    public static let maxHosts = 256
    public static let maxNameLength = 64

    /// Checks a policy, and returns its faults.
    ///
    /// - Parameter now: expired values (`expires_at`, pinned certificates) are refused; nil for a stored policy, which
    ///   may have expired since.
    public static func check(_ policy: TrustPolicy, at now: Timestamp?) throws(TrustPolicyError) {
        func refuse(_ problem: TrustPolicyError.Problem) -> TrustPolicyError { TrustPolicyError(policy.name, problem) }
        guard isName(policy.name) else { throw refuse(.badName) }
        if policy.isDefault, !policy.hosts.isEmpty { throw refuse(.hostsOfDefault) }
        if !policy.isDefault, policy.hosts.isEmpty { throw refuse(.noHosts) }
        guard policy.hosts.count <= maxHosts else { throw refuse(.tooMany("hosts", limit: maxHosts)) }
        guard policy.pins.count <= maxPins else { throw refuse(.tooMany("pins", limit: maxPins)) }
        var patterns: Set<HostPattern> = []
        for pattern in policy.hosts where !patterns.insert(pattern).inserted {
            throw refuse(.duplicateHost(pattern, other: policy.name))
        }
        if case .reject(let contradiction) = TrustCell(policy).rule { throw refuse(.contradiction(contradiction)) }
        if policy.requiresStapledOCSP, policy.allowsInvalidCertificates {
            throw refuse(.contradiction(.revocationOfAnything))
        }
        for (index, pin) in policy.pins.enumerated() {
            switch pin {
            case .key:
                if policy.mode == .certificate { throw refuse(.keyAsCertificate(index: index)) }
            case .certificate(let pin):
                if let now, pin.notAfter <= now { throw refuse(.pinExpired(index: index, pin.notAfter)) }
            }
        }
        if let now, let expiresAt = policy.expiresAt, expiresAt <= now { throw refuse(.alreadyExpired(expiresAt)) }
        if let files = policy.clientCertificate, !files.certificate.hasPrefix("/") || !files.key.hasPrefix("/") {
            throw refuse(.relativePath)
        }
    }

    private static func isName(_ name: String) -> Bool {
        guard (1...maxNameLength).contains(name.utf8.count), name != ".", name != ".." else { return false }
        return name.utf8.allSatisfy { byte in
            (97...122).contains(byte) || (48...57).contains(byte) || "-_.".utf8.contains(byte)
        }
    }
}

/// The reason why a policy is refused.
public struct TrustPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Problem: Hashable, Sendable {
        case badName
        case duplicateName
        case noHosts
        case hostsOfDefault
        case duplicateHost(HostPattern, other: String)
        case tooMany(String, limit: Int)
        case contradiction(TrustContradiction)
        case keyAsCertificate(index: Int)
        case pinExpired(index: Int, Timestamp)
        case alreadyExpired(Timestamp)
        case relativePath
    }

    /// The policy's name.
    public let policy: String
    public let problem: Problem

    public init(_ policy: String, _ problem: Problem) {
        self.policy = String(policy.prefix(100))
        self.problem = problem
    }

    /// The field at fault.
    public var field: String {
        switch problem {
        case .badName, .duplicateName: "name"
        case .noHosts, .hostsOfDefault, .duplicateHost: "hosts"
        case .tooMany(let field, _): field
        case .contradiction(.noPins), .keyAsCertificate, .pinExpired: "pins"
        case .contradiction(.nameOfAnything): "allow_invalid_certificates"
        case .contradiction(.revocationOfAnything): "require_stapled_ocsp"
        case .alreadyExpired: "expires_at"
        case .relativePath: "client_certificate"
        }
    }

    public var description: String { "trust policy \"\(policy)\": \(field): \(detail)" }

    private var detail: String {
        switch problem {
        case .badName:
            "expected 1 to \(TrustPolicyRules.maxNameLength) lower-case letters, digits, \"-\", \"_\" or \".\""
        case .duplicateName: "another policy has this name"
        case .noHosts: "expected at least one host pattern; only the policy \"default\" has none"
        case .hostsOfDefault: "the default policy has no host patterns: it applies where no other one does"
        case .duplicateHost(let pattern, let other): "\(pattern) occurs twice, also in policy \"\(other)\""
        case .tooMany(_, let limit): "expected at most \(limit)"
        case .contradiction(let contradiction): contradiction.description
        case .keyAsCertificate(let index):
            "pin \(index + 1) is the digest of a key; mode certificate needs the certificate itself"
        case .pinExpired(let index, let date): "the certificate of pin \(index + 1) has expired at \(date)"
        case .alreadyExpired(let date): "\(date) has passed"
        case .relativePath: "expected absolute paths"
        }
    }
}

/// The warnings before a policy's pins are no longer enforced: 30, 7 and 1 days before, and at expiry.
public enum ExpiryWarning: Int, Hashable, Sendable, Comparable, CaseIterable {
    case month = 30
    case week = 7
    case day = 1
    case expired = 0

    /// Orders by urgency.
    public static func < (left: ExpiryWarning, right: ExpiryWarning) -> Bool { left.rawValue > right.rawValue }

    /// The time at which this warning is due.
    public func instant(before expiry: Timestamp) -> Timestamp {
        expiry.advanced(by: .seconds(-86_400 * Int64(clamping: rawValue)))
    }

    /// The most urgent warning that is due and has not been given. After weeks without the service there is one
    /// warning, not three.
    /// - Parameter given: the last warning that was given for this version of the policy.
    public static func due(for expiry: Timestamp, after given: ExpiryWarning?, at now: Timestamp) -> ExpiryWarning? {
        guard let due = allCases.filter({ $0.instant(before: expiry) <= now }).max() else { return nil }
        return given.map { due > $0 } ?? true ? due : nil
    }

    /// The time at which the next warning is due; nil after the last one.
    public static func next(for expiry: Timestamp, at now: Timestamp) -> Timestamp? {
        allCases.map { $0.instant(before: expiry) }.filter { $0 > now }.min()
    }
}
