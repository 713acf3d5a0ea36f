import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel

/// What a run's connections are held to: resolves every hop by the policies in force at that moment, and remembers who was
/// believed by which of them, so that a change of the policies can tell whether it concerns this run and its bytes.
final class RunTrust: Sendable {
    private struct State {
        var hops: [Origin: AppliedPolicies] = [:]
        /// Hops whose use of a policy with `allow_invalid_certificates` was told, since the attempt began.
        var toldLax: Set<LaxUse> = []
        var lax: [LaxUse] = []
        /// Who sent the bytes of earlier attempts.
        var kept: [SourceEvidence]
        /// Who answered in this attempt.
        var answering: [SourceEvidence] = []
        /// What the database knows.
        var recorded: [SourceEvidence]

        /// Everybody, earlier ones first. More than are kept become somebody nobody believes when it is asked again.
        var sources: [SourceEvidence] {
            let all = kept + answering.filter { !kept.contains($0) }
            guard all.count > SourceEvidence.maxCount else { return all }
            var most = Array(all.prefix(SourceEvidence.maxCount))
            let nobody = Origin(scheme: .https, host: all[0].origin.host, port: all[0].origin.port)
            most[most.count - 1] = SourceEvidence(origin: nobody, chain: [], tls: nil, judgement: "")
            return most
        }
    }

    /// A hop that a policy with `allow_invalid_certificates` judges.
    struct LaxUse: Hashable {
        var policy: String
        var version: Int64
        var host: String
    }

    private let policies: NIOLockedValueBox<PolicyBook>
    private let taskPolicy: String?
    private let authoritiesFile: String?
    private let clock: WallClock
    private let state: NIOLockedValueBox<State>

    /// - Parameter kept: who sent the bytes that earlier runs left.
    init(
        policies: NIOLockedValueBox<PolicyBook>, taskPolicy: String?, authoritiesFile: String?,
        kept: [SourceEvidence], clock: @escaping WallClock
    ) {
        self.policies = policies
        self.taskPolicy = taskPolicy
        self.authoritiesFile = authoritiesFile
        self.clock = clock
        state = NIOLockedValueBox(State(kept: kept, recorded: kept))
    }

    // MARK: Hops

    /// The session a hop goes through. Called on the engine's loop, before a hop and again in its handshake.
    func session(for url: HTTPURL) throws(TransferError) -> SessionSpec {
        let applied = try resolve(url.origin)
        if url.scheme == .https { noteLax(applied, host: url.hostKey) }
        return SessionSpec(
            key: SessionKey(trustVersions: applied.all.map(\.policy.version)),
            trust: TrustSettings(caFile: authoritiesFile, policies: applied))
    }

    /// Resolving and noting it are one step: whoever puts other policies into force afterwards finds it with `isStale`.
    private func resolve(_ origin: Origin) throws(TransferError) -> AppliedPolicies {
        let now = clock()
        let result = policies.withLockedValue { book -> Result<AppliedPolicies, PolicyResolutionError> in
            do throws(PolicyResolutionError) {
                let applied = try book.resolver.resolve(origin, taskPolicy: taskPolicy, at: now)
                state.withLockedValue { $0.hops[origin] = applied }
                return .success(applied)
            } catch {
                return .failure(error)
            }
        }
        do throws(PolicyResolutionError) {
            return try result.get()
        } catch {
            throw TransferError(error, host: origin.host)
        }
    }

    /// Whether some hop, or somebody who sent kept bytes, would be judged otherwise now.
    func isStale(under book: PolicyBook, at now: Timestamp) -> Bool {
        state.withLockedValue(\.hops).contains { origin, applied in
            (try? book.resolver.resolve(origin, taskPolicy: taskPolicy, at: now)) != applied
        }
    }

    // MARK: Lax policies

    private func noteLax(_ applied: AppliedPolicies, host: String) {
        let uses = applied.all.filter { $0.policy.allowsInvalidCertificates && !$0.isExpired }.map {
            LaxUse(policy: $0.policy.name, version: $0.policy.version, host: host)
        }
        guard !uses.isEmpty else { return }
        state.withLockedValue { state in
            for use in uses where state.toldLax.insert(use).inserted { state.lax.append(use) }
        }
    }

    /// Uses since the last call, for the log: once for each host and attempt, whether its connection is new or not.
    func takeLax() -> [LaxUse] {
        state.withLockedValue { state in
            defer { state.lax = [] }
            return state.lax
        }
    }

    // MARK: Who sent the bytes

    func beginAttempt() {
        state.withLockedValue { state in
            state.kept = state.sources
            state.answering = []
            state.toldLax = []
        }
    }

    /// Somebody answers in this attempt. Called on the engine's loop.
    func note(_ source: SourceEvidence) {
        state.withLockedValue { state in
            if !state.answering.contains(source) { state.answering.append(source) }
        }
    }

    /// The kept bytes are dropped; what comes now is of this attempt.
    func forgetKept() {
        state.withLockedValue { state in
            state.kept = []
            state.recorded = []
        }
    }

    var hasRecordedSources: Bool { state.withLockedValue { !$0.recorded.isEmpty } }

    /// What is to be committed with the next offset; nil when the database knows it. Where only the built-in default judged,
    /// nothing is written while the run goes on.
    func unrecordedSources(isLast: Bool) -> [SourceEvidence]? {
        state.withLockedValue { state in
            let sources = state.sources
            if sources == state.recorded { return nil }
            let isOrdinary = sources.allSatisfy { $0.judgement == AppliedPolicies.ordinary.judgement }
            return isOrdinary && !isLast && state.recorded.isEmpty ? nil : sources
        }
    }

    func noteRecorded(_ sources: [SourceEvidence]) { state.withLockedValue { $0.recorded = sources } }

    /// Why bytes that earlier runs kept may not be used any more; nil when everybody who sent them is believed by the
    /// policies in force. May read the authorities' file.
    ///
    /// - Parameter urls: where they came from if nothing is recorded: under the built-in default then.
    /// - Throws: `policyMissing`: the bytes can wait until the task's policy is back.
    func refusalOfKept(from urls: [HTTPURL]) throws(TransferError) -> String? {
        var kept = state.withLockedValue(\.kept)
        do throws(TransferError) {
            if kept.isEmpty {
                for url in urls where try resolve(url.origin).judgement != AppliedPolicies.ordinary.judgement {
                    return "what \(url.hostKey) showed is not known any more"
                }
            }
            for index in kept.indices {
                let applied = try resolve(kept[index].origin)
                if applied.judgement == kept[index].judgement { continue }
                if let refusal = SourceJudge.refusal(of: kept[index], by: applied, authoritiesFile: authoritiesFile) {
                    return refusal
                }
                kept[index].judgement = applied.judgement
            }
        } catch {
            if error.reason == .policyMissing { throw error }
            return error.message
        }
        state.withLockedValue { [kept] in $0.kept = kept }
        return nil
    }
}
