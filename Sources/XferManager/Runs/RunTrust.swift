import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel

/// What a run's connections are held to: resolves every hop by the policies and lists in force at that moment, and remembers
/// how each was judged so that a change of them can tell whether it concerns this run.
final class RunTrust: Sendable {
    private struct Hop: Hashable {
        var origin: Origin
        /// An `https` proxy is judged as a host of its own; the task's policy is none of its.
        var isProxy: Bool
    }

    private struct State {
        var hops: [Hop: AppliedPolicies] = [:]
        var admission: AdmissionRules?
        /// Policies with `allow_invalid_certificates` that were used and not logged yet.
        var lax: [(policy: TrustPolicy, host: String)] = []
    }

    private let policies: NIOLockedValueBox<PolicyBook>
    private let admission: NIOLockedValueBox<AdmissionRules>
    private let taskPolicy: String?
    let authoritiesFile: String?
    private let clock: WallClock
    private let state = NIOLockedValueBox(State())

    init(
        policies: NIOLockedValueBox<PolicyBook>, admission: NIOLockedValueBox<AdmissionRules>, taskPolicy: String?,
        authoritiesFile: String?, clock: @escaping WallClock
    ) {
        self.policies = policies
        self.admission = admission
        self.taskPolicy = taskPolicy
        self.authoritiesFile = authoritiesFile
        self.clock = clock
    }

    /// The rules in force, once they let the hop and its proxy be asked. Called on the engine's loop.
    func admit(_ url: HTTPURL, through proxy: ProxyServer?) throws(TransferError) -> AdmissionRules {
        let rules = admission.withLockedValue(\.self)
        state.withLockedValue { $0.admission = rules }
        if let refusal = rules.refusal(ofHost: url.host, port: url.port) {
            throw TransferError(refusal, host: url.hostKey)
        }
        if let proxy, let refusal = rules.refusal(ofHost: proxy.host, port: proxy.port) {
            throw TransferError(.rejectedByPolicy, "the proxy \(proxy): \(refusal)", host: url.hostKey)
        }
        return rules
    }

    /// What the hop's server is held to, and its proxy if that is spoken to over TLS. Called on the engine's loop.
    func policies(
        for url: HTTPURL, through proxy: ProxyServer?
    ) throws(TransferError) -> (origin: AppliedPolicies, proxy: AppliedPolicies?) {
        let origin = try policies(for: Hop(origin: url.origin, isProxy: false), host: url.hostKey)
        guard let secure = proxy?.origin else { return (origin, nil) }
        return (origin, try policies(for: Hop(origin: secure, isProxy: true), host: "\(secure.host):\(secure.port)"))
    }

    private func policies(for hop: Hop, host: String) throws(TransferError) -> AppliedPolicies {
        let applied: AppliedPolicies
        do throws(PolicyResolutionError) {
            applied = try resolve(hop, policies.withLockedValue(\.resolver), at: clock())
        } catch {
            throw TransferError(error, host: hop.origin.host)
        }
        let lax = applied.all.filter {
            $0.policy.allowsInvalidCertificates && !$0.isExpired && hop.origin.scheme == .https
        }
        state.withLockedValue { state in
            state.hops[hop] = applied
            // Asked twice for a hop: before it, and in its handshake.
            for applied in lax where !state.lax.contains(where: { $0 == (applied.policy, host) }) {
                state.lax.append((applied.policy, host))
            }
        }
        return applied
    }

    private func resolve(
        _ hop: Hop, _ resolver: PolicyResolver, at now: Timestamp
    ) throws(PolicyResolutionError) -> AppliedPolicies {
        try resolver.resolve(hop.origin, taskPolicy: hop.isProxy ? nil : taskPolicy, at: now)
    }

    /// Whether some hop would be judged otherwise now. The lists judge addresses nobody remembers: any change of them counts.
    func isStale(at now: Timestamp) -> Bool {
        let (resolver, rules) = (policies.withLockedValue(\.resolver), admission.withLockedValue(\.self))
        let state = state.withLockedValue(\.self)
        if let judged = state.admission, judged != rules { return true }
        return state.hops.contains { hop, applied in (try? resolve(hop, resolver, at: now)) != applied }
    }

    /// Lax policies that were used since the last call, for the log.
    func takeLax() -> [(policy: TrustPolicy, host: String)] {
        state.withLockedValue { state in
            defer { state.lax = [] }
            return state.lax
        }
    }
}
