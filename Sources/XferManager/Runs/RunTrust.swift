import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel

/// What a run's connections are held to: resolves every hop by the policies in force at that moment, and remembers how
/// each was judged so that a change of the policies can tell whether it concerns this run.
final class RunTrust: Sendable {
    private struct State {
        var hops: [Origin: AppliedPolicies] = [:]
        /// Policies with `allow_invalid_certificates` that were used and not logged yet.
        var lax: [(policy: TrustPolicy, host: String)] = []
    }

    private let policies: NIOLockedValueBox<PolicyBook>
    private let taskPolicy: String?
    private let authoritiesFile: String?
    private let clock: WallClock
    private let state = NIOLockedValueBox(State())

    init(
        policies: NIOLockedValueBox<PolicyBook>, taskPolicy: String?, authoritiesFile: String?,
        clock: @escaping WallClock
    ) {
        self.policies = policies
        self.taskPolicy = taskPolicy
        self.authoritiesFile = authoritiesFile
        self.clock = clock
    }

    /// The session a hop goes through. Called on the engine's loop.
    func session(for url: HTTPURL) throws(TransferError) -> SessionSpec {
        let applied: AppliedPolicies
        do throws(PolicyResolutionError) {
            applied = try policies.withLockedValue(\.resolver).resolve(url.origin, taskPolicy: taskPolicy, at: clock())
        } catch {
            throw TransferError(error, host: url.host)
        }
        let lax = applied.all.filter { $0.policy.allowsInvalidCertificates && !$0.isExpired && url.scheme == .https }
        state.withLockedValue { state in
            state.hops[url.origin] = applied
            // Asked twice for a hop: before it, and in its handshake.
            for applied in lax where !state.lax.contains(where: { $0 == (applied.policy, url.hostKey) }) {
                state.lax.append((applied.policy, url.hostKey))
            }
        }
        return SessionSpec(
            key: SessionKey(trustVersions: applied.all.map(\.policy.version)),
            trust: TrustSettings(caFile: authoritiesFile, policies: applied))
    }

    /// Whether some hop would be judged otherwise now.
    func isStale(under book: PolicyBook, at now: Timestamp) -> Bool {
        state.withLockedValue(\.hops).contains { origin, applied in
            (try? book.resolver.resolve(origin, taskPolicy: taskPolicy, at: now)) != applied
        }
    }

    /// Lax policies that were used since the last call, for the log.
    func takeLax() -> [(policy: TrustPolicy, host: String)] {
        state.withLockedValue { state in
            defer { state.lax = [] }
            return state.lax
        }
    }
}
