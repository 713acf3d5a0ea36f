public import XferModel

/// All policies. It selects those that apply to a connection.
public struct PolicyResolver: Sendable, Hashable {
    /// Sorted by name, without the default.
    public let policies: [TrustPolicy]
    /// The operator's, else the built-in one.
    public let defaultPolicy: TrustPolicy
    /// The names of policies that cannot be read. Each may concern any host, so that no connection is allowed.
    public let unreadable: [String]
    /// The names of policies that the start could not put in force, because others have their names or hosts. While
    /// there is one, no connection is allowed: it may demand more of a server than those in force.
    public var notInForce: [String] = []

    /// Creates a resolver without policies: the ordinary check for every server.
    public init() {
        policies = []
        defaultPolicy = .builtInDefault
        unreadable = []
    }

    /// - Parameter unreadable: the names of further policies, which cannot be read.
    /// - Throws: when two policies have a name or a host pattern in common, so that neither would be more specific.
    public init(_ all: [TrustPolicy], unreadable: [String] = []) throws(TrustPolicyError) {
        var names: Set<String> = []
        var owners: [HostPattern: String] = [:]
        for policy in all {
            guard names.insert(policy.name).inserted else { throw TrustPolicyError(policy.name, .duplicateName) }
            for pattern in policy.hosts {
                if let other = owners.updateValue(policy.name, forKey: pattern) {
                    throw TrustPolicyError(policy.name, .duplicateHost(pattern, other: other))
                }
            }
        }
        policies = all.filter { !$0.isDefault }.sorted { $0.name < $1.name }
        defaultPolicy = all.first { $0.isDefault } ?? .builtInDefault
        self.unreadable = unreadable
    }

    public func policy(named name: String) -> TrustPolicy? {
        name == TrustPolicy.defaultName ? defaultPolicy : policies.first { $0.name == name }
    }

    /// The most specific enforced policy for a host, and the report-only ones that are more specific.
    func candidates(for host: ServerName, port: UInt16) -> (reporting: [TrustPolicy], deciding: TrustPolicy) {
        let matching = matching(host, port: port)
        let reporting = Array(matching.prefix { $0.isReportOnly })
        return (reporting, matching.dropFirst(reporting.count).first ?? .builtInDefault)
    }

    /// The policies with a pattern that matches, the most specific one first, then the default.
    private func matching(_ host: ServerName, port: UInt16) -> [TrustPolicy] {
        var matching: [(pattern: HostPattern, policy: TrustPolicy)] = []
        for policy in policies {
            let patterns = policy.hosts.filter { $0.matches(host, port: port) }
            guard let best = patterns.max(by: { $1.isMoreSpecific(than: $0) }) else { continue }
            matching.append((best, policy))
        }
        return matching.sorted { $0.pattern.isMoreSpecific(than: $1.pattern) }.map(\.policy) + [defaultPolicy]
    }

    /// The policies for a hop: the most specific one that is enforced, the report-only ones that are more specific, and
    /// the task's own one if one of its patterns matches.
    /// - Throws: `policyUnreadable` while some policy cannot be read; `policyNotInForce` while one conflicts with another;
    ///   `policyMissing` when the task's policy no longer exists; `plainHTTP` for `http` to a host that has pins.
    public func resolve(
        _ origin: Origin, taskPolicy: String? = nil, at now: Timestamp
    ) throws(PolicyResolutionError) -> AppliedPolicies {
        if let damaged = unreadable.first { throw .policyUnreadable(damaged) }
        if let name = notInForce.first { throw .policyNotInForce(name) }
        let name = ServerName(host: origin.host)
        let candidates = candidates(for: name, port: origin.port)
        var reporting = candidates.reporting
        let host = candidates.deciding
        var named: TrustPolicy?
        if let taskPolicy {
            guard let found = policy(named: taskPolicy) else { throw .policyMissing(taskPolicy) }
            if found != host, found.hosts.contains(where: { $0.matches(name, port: origin.port) }) { named = found }
        }
        if let trial = named, trial.isReportOnly {
            named = nil
            reporting = [trial] + reporting.filter { $0 != trial }
        }
        let applied = AppliedPolicies(
            host: AppliedPolicy(host, at: now), task: named.map { AppliedPolicy($0, at: now) },
            reporting: reporting.map { AppliedPolicy($0, at: now) })
        if origin.scheme == .http, let refusal = applied.refusalOfPlainHTTP(host: name.description) {
            throw .plainHTTP(refusal)
        }
        return applied
    }

    /// The policies for a new task's first hop: the task's own policy has to match it.
    public func admit(
        _ origin: Origin, taskPolicy: String? = nil, at now: Timestamp
    ) throws(PolicyResolutionError) -> AppliedPolicies {
        let applied = try resolve(origin, taskPolicy: taskPolicy, at: now)
        if let taskPolicy, !applied.all.contains(where: { $0.policy.name == taskPolicy && !$0.policy.isDefault }) {
            throw .policyDoesNotMatch(taskPolicy, host: ServerName(host: origin.host).description)
        }
        return applied
    }
}

/// The reason why no policies could be found for a connection.
public enum PolicyResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
    case policyMissing(String)
    /// The policy's row in the database is damaged, so that the hosts that it concerns are not known.
    case policyUnreadable(String)
    /// The configuration file's policy has the name or a host of another one, so that neither decides.
    case policyNotInForce(String)
    case policyDoesNotMatch(String, host: String)
    case plainHTTP(TransferError)

    public var description: String {
        switch self {
        case .policyMissing(let name): "there is no trust policy \"\(name)\""
        case .policyUnreadable(let name):
            "the trust policy \"\(name)\" is damaged in the database, and nothing is transferred until it is set again "
                + "or removed"
        case .policyNotInForce(let name):
            "the trust policy \"\(name)\" of the configuration is not in force, and nothing is transferred until the policy "
                + "that was set over RPC with its name or host is removed"
        case .policyDoesNotMatch(let name, let host):
            "trust policy \"\(name)\" has no host pattern that matches \(host)"
        case .plainHTTP(let error): error.message
        }
    }
}

extension TransferError {
    /// Creates the error with which a running task fails.
    public init(_ error: PolicyResolutionError, host: String) {
        switch error {
        case .policyMissing: self.init(.policyMissing, error.description, host: host)
        // Kept bytes stay until the policy can be read, as while a task's policy is missing.
        case .policyUnreadable, .policyNotInForce:
            self.init(.policyMissing, error.description, isRetriable: true, host: host)
        case .policyDoesNotMatch: self.init(.trustRejected, error.description, isRetriable: false, host: host)
        case .plainHTTP(let refusal): self = refusal
        }
    }
}
