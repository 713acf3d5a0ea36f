public import XferModel

/// A policy as it is in force at some instant.
public struct AppliedPolicy: Sendable, Equatable, Hashable {
    public let policy: TrustPolicy
    /// Its `expires_at` has passed: the ordinary check takes its place.
    public let isExpired: Bool

    public init(_ policy: TrustPolicy, at now: Timestamp) {
        self.policy = policy
        isExpired = policy.expiresAt.map { $0 <= now } ?? false
    }

    /// The checks that the policy requires now. An expired policy requires the ordinary check.
    public var rule: TrustRule { isExpired ? .require(.ordinary) : TrustCell(policy).rule }

    /// Whether the policy requires pins now.
    public var isPinning: Bool { !isExpired && policy.mode != .none }

    /// Whether refusals are only reported.
    public var isReportOnly: Bool { !isExpired && policy.isReportOnly }

    /// Whether the server has to staple proof that its certificate is not revoked.
    public var requiresStapledOCSP: Bool { !isExpired && policy.requiresStapledOCSP }

    /// The checks that the policy needs.
    public var neededChecks: TrustChecks {
        guard case .require(let checks) = rule else { return [] }
        return isReportOnly ? checks.union(.ordinary) : checks
    }

    /// Version and name tell policies apart well enough; equality compares all of it.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(policy.name)
        hasher.combine(policy.version)
        hasher.combine(isExpired)
    }
}

/// The policies for a connection, each of which has to accept. Connections are shared between equal ones only.
public struct AppliedPolicies: Sendable, Hashable {
    /// The most specific one for the host, else the default.
    public let host: AppliedPolicy
    /// The policy that the task names, if it matches the hop and is another one.
    public let task: AppliedPolicy?

    public init(host: AppliedPolicy, task: AppliedPolicy? = nil) {
        self.host = host
        self.task = task
    }

    /// What applies where nothing is configured: the ordinary check.
    public static let ordinary = AppliedPolicies(
        host: AppliedPolicy(.builtInDefault, at: Timestamp(microseconds: 0)))

    public var all: [AppliedPolicy] { [host] + (task.map { [$0] } ?? []) }

    /// Identifies this judgement: the policies' versions, with an `x` for an expired one. Equal judgements trust the
    /// same servers.
    public var judgement: String { all.map { "\($0.policy.version)\($0.isExpired ? "x" : "")" }.joined(separator: "+") }

    public var minimumTLS: TLSVersion { all.map(\.policy.minimumTLS).max() ?? .tls12 }

    public var requiresStapledOCSP: Bool { all.contains(where: \.requiresStapledOCSP) }

    /// The task's before the host's.
    public var clientCertificate: ClientCertificateFiles? {
        task?.policy.clientCertificate ?? host.policy.clientCertificate
    }

    /// Why plain `http` may not be used for such a host: it would bypass the pins.
    public func refusalOfPlainHTTP(host: @autoclosure () -> String) -> TransferError? {
        guard let pinning = all.first(where: { $0.isPinning && !$0.isReportOnly }) else { return nil }
        let host = host()
        return TransferError(
            .trustRejected, "\(host) has the pinning policy \"\(pinning.policy.name)\": http is refused, use https",
            isRetriable: false, host: host)
    }
}
