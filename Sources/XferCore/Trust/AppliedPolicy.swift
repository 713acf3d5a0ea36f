public import XferModel

/// A trust policy as it applies at one instant.
public struct AppliedPolicy: Sendable, Equatable, Hashable {
    public let policy: TrustPolicy
    /// True if the policy's `expires_at` has passed. Then the ordinary check replaces its rule.
    public let isExpired: Bool

    public init(_ policy: TrustPolicy, at now: Timestamp) {
        self.policy = policy
        isExpired = policy.expiresAt.map { $0 <= now } ?? false
    }

    /// The policy's requirements for a server. An expired policy requires the ordinary check; it never accepts every
    /// server.
    public var rule: TrustRule { isExpired ? .require(.ordinary) : TrustCell(policy).rule }

    /// True if the policy requires pins now.
    public var isPinning: Bool { !isExpired && policy.mode != .none }

    /// True if a refusal is only reported and not enforced. An expired policy of this kind no longer reports anything.
    public var isReportOnly: Bool { policy.isReportOnly }

    /// True if the policy accepts servers that the ordinary check refuses.
    public var isLax: Bool { !isExpired && !isReportOnly && policy.allowsInvalidCertificates }

    /// True if the server has to staple proof that its certificate is not revoked.
    public var requiresStapledOCSP: Bool { !isExpired && policy.requiresStapledOCSP }

    /// The checks whose results the decision needs.
    public var neededChecks: TrustChecks { if case .require(let checks) = rule { checks } else { [] } }

    /// Hashes name and version only; equality compares the whole policy.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(policy.name)
        hasher.combine(policy.version)
        hasher.combine(isExpired)
    }
}

/// The policies for a connection. `host` and `task` decide: each of them has to accept the server. Requests share a
/// connection only if these policies are equal.
///
/// Invariant: `host` and `task` are enforced. A report-only policy changes no decision: it neither replaces a policy
/// nor adds a condition.
public struct AppliedPolicies: Sendable, Hashable {
    /// The most specific enforced policy for the host, else the default policy.
    public let host: AppliedPolicy
    /// The task's own policy; nil if it does not match the hop or is the same as `host`.
    public let task: AppliedPolicy?
    /// The report-only policies that would apply if they were enforced.
    public let reporting: [AppliedPolicy]

    /// Creates the policies. A report-only policy that is given as `host` or `task` is moved to `reporting`; the
    /// ordinary check replaces such a `host`.
    public init(host: AppliedPolicy, task: AppliedPolicy? = nil, reporting: [AppliedPolicy] = []) {
        let given = [host] + (task.map { [$0] } ?? [])
        self.host = host.isReportOnly ? AppliedPolicy(.builtInDefault, at: Timestamp(microseconds: 0)) : host
        self.task = task.flatMap { $0.isReportOnly ? nil : $0 }
        self.reporting = given.filter(\.isReportOnly) + reporting
    }

    /// The policies without any configuration: the built-in default, which is the ordinary check.
    public static let ordinary = AppliedPolicies(
        host: AppliedPolicy(.builtInDefault, at: Timestamp(microseconds: 0)))

    /// The policies that decide.
    public var enforced: [AppliedPolicy] { [host] + (task.map { [$0] } ?? []) }

    public var all: [AppliedPolicy] { enforced + reporting }

    /// Identifies the policies that decide: their versions, with an `x` after that of an expired policy. Policies with
    /// equal identifiers trust the same servers.
    public var judgement: String {
        enforced.map { "\($0.policy.version)\($0.isExpired ? "x" : "")" }.joined(separator: "+")
    }

    /// The lowest TLS version of a connection. A report-only policy only reports a lower one.
    public var minimumTLS: TLSVersion { enforced.map(\.policy.minimumTLS).max() ?? .tls12 }

    /// True if a policy judges stapled OCSP responses, if only to report.
    public var requiresStapledOCSP: Bool { all.contains(where: \.requiresStapledOCSP) }

    /// True if a server without stapled proof that its certificate is not revoked is refused.
    public var enforcesStapledOCSP: Bool { enforced.contains(where: \.requiresStapledOCSP) }

    /// The client certificate of the task's policy, else that of the host's policy. If neither has one, that of a
    /// report-only policy is sent, because sending it is not a check of the server.
    public var clientCertificate: ClientCertificateFiles? {
        ((task.map { [$0] } ?? []) + [host] + reporting).lazy.compactMap(\.policy.clientCertificate).first
    }

    /// The error for a plain `http` request to a host with an enforced pinning policy, because `http` would bypass the
    /// pins. Nil for other hosts.
    public func refusalOfPlainHTTP(host: @autoclosure () -> String) -> TransferError? {
        guard let pinning = enforced.first(where: \.isPinning) else { return nil }
        let host = host()
        return TransferError(
            .trustRejected, "\(host) has the pinning policy \"\(pinning.policy.name)\": http is refused, use https",
            isRetriable: false, host: host)
    }
}
