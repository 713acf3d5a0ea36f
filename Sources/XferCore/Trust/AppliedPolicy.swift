public import XferModel

/// A trust policy as it applies at one instant.
public struct AppliedPolicy: Sendable, Equatable, Hashable {
    public let policy: TrustPolicy
    /// Whether the policy's `expires_at` has passed. Then the ordinary check replaces its rule.
    public let isExpired: Bool

    public init(_ policy: TrustPolicy, at now: Timestamp) {
        self.policy = policy
        isExpired = policy.expiresAt.map { $0 <= now } ?? false
    }

    /// What the policy asks of a server. An expired policy asks for the ordinary check; it never accepts every server.
    public var rule: TrustRule { isExpired ? .require(.ordinary) : TrustCell(policy).rule }

    /// Whether the policy requires pins now.
    public var isPinning: Bool { !isExpired && policy.mode != .none }

    /// Whether a refusal is only reported and not enforced.
    public var isReportOnly: Bool { !isExpired && policy.isReportOnly }

    /// Whether the policy accepts servers that the ordinary check refuses.
    public var isLax: Bool { !isExpired && !isReportOnly && policy.allowsInvalidCertificates }

    /// Whether the server has to staple proof that its certificate is not revoked.
    public var requiresStapledOCSP: Bool { !isExpired && policy.requiresStapledOCSP }

    /// The checks whose results the decision needs. For a report-only policy these include the ordinary ones, which
    /// decide.
    public var neededChecks: TrustChecks {
        let own: TrustChecks = if case .require(let checks) = rule { checks } else { [] }
        return isReportOnly ? own.union(.ordinary) : own
    }

    /// Name and version are enough for a hash; equality compares the whole policy.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(policy.name)
        hasher.combine(policy.version)
        hasher.combine(isExpired)
    }
}

/// The policies for a connection. Each of them has to accept the server. Requests share a connection only if these
/// policies are equal.
public struct AppliedPolicies: Sendable, Hashable {
    /// The most specific policy for the host, else the default policy.
    public let host: AppliedPolicy
    /// The policy that the task names; nil if it does not match the hop or is the same as `host`.
    public let task: AppliedPolicy?

    public init(host: AppliedPolicy, task: AppliedPolicy? = nil) {
        self.host = host
        self.task = task
    }

    /// The policies without any configuration: the built-in default, which is the ordinary check.
    public static let ordinary = AppliedPolicies(
        host: AppliedPolicy(.builtInDefault, at: Timestamp(microseconds: 0)))

    public var all: [AppliedPolicy] { [host] + (task.map { [$0] } ?? []) }

    /// Identifies these policies: their versions, with an `x` after that of an expired policy. Policies with equal
    /// identifiers trust the same servers.
    public var judgement: String { all.map { "\($0.policy.version)\($0.isExpired ? "x" : "")" }.joined(separator: "+") }

    /// The lowest TLS version of a connection. A report-only policy only reports a lower one.
    public var minimumTLS: TLSVersion { all.filter { !$0.isReportOnly }.map(\.policy.minimumTLS).max() ?? .tls12 }

    /// Whether a policy judges stapled OCSP responses, if only to report.
    public var requiresStapledOCSP: Bool { all.contains(where: \.requiresStapledOCSP) }

    /// Whether a server is refused that staples no proof that its certificate is not revoked.
    public var enforcesStapledOCSP: Bool { all.contains { $0.requiresStapledOCSP && !$0.isReportOnly } }

    /// The client certificate of the task's policy, else that of the host's policy.
    public var clientCertificate: ClientCertificateFiles? {
        task?.policy.clientCertificate ?? host.policy.clientCertificate
    }

    /// The error for a plain `http` request to a host with an enforced pinning policy, because `http` would bypass the
    /// pins. Nil for other hosts.
    public func refusalOfPlainHTTP(host: @autoclosure () -> String) -> TransferError? {
        guard let pinning = all.first(where: { $0.isPinning && !$0.isReportOnly }) else { return nil }
        let host = host()
        return TransferError(
            .trustRejected, "\(host) has the pinning policy \"\(pinning.policy.name)\": http is refused, use https",
            isRetriable: false, host: host)
    }
}
