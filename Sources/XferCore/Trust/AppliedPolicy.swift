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

    /// Whether the server has to staple proof that its certificate is not revoked.
    public var requiresStapledOCSP: Bool { !isExpired && policy.requiresStapledOCSP }

    /// The checks whose results the policy needs. A report-only policy also needs the ordinary ones, which it enforces.
    public var neededChecks: TrustChecks {
        guard case .require(let checks) = rule else { return [] }
        return isReportOnly ? checks.union(.ordinary) : checks
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

    public var minimumTLS: TLSVersion { all.map(\.policy.minimumTLS).max() ?? .tls12 }

    public var requiresStapledOCSP: Bool { all.contains(where: \.requiresStapledOCSP) }

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
