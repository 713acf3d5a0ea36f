import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel

/// The trust rules for a run's connections. Resolves every hop by the policies and lists in force at that moment, and
/// records by which of them each server was trusted, so that a later change can be checked against this run and its
/// bytes.
final class RunTrust: Sendable {
    private struct Hop: Hashable {
        var origin: Origin
        /// An `https` proxy is judged as a host of its own; the task's policy does not apply to it.
        var isProxy = false
    }

    private struct State {
        var hops: [Hop: AppliedPolicies] = [:]
        var admission: AdmissionRules?
        /// The authorities in force when the first `https` hop was resolved.
        var authorities: String?
        /// Hops whose use of a policy with `allow_invalid_certificates` was reported, since the attempt began.
        var toldLax: Set<LaxUse> = []
        var lax: [LaxUse] = []
        /// The servers that sent the bytes of earlier attempts.
        var kept: [SourceEvidence]
        /// The servers that answered in this attempt.
        var answering: [SourceEvidence] = []
        /// The servers that the database has.
        var recorded: [SourceEvidence]

        /// All servers, earlier ones first. Overflow is replaced by a sentinel that every policy rejects when it is
        /// judged again.
        var sources: [SourceEvidence] {
            let all = kept + answering.filter { !kept.contains($0) }
            guard all.count > SourceEvidence.maxCount else { return all }
            var most = Array(all.prefix(SourceEvidence.maxCount))
            let unknown = Origin(scheme: .https, host: all[0].origin.host, port: all[0].origin.port)
            most[most.count - 1] = SourceEvidence(origin: unknown, chain: [], tls: nil, judgement: "")
            return most
        }
    }

    /// A hop that a policy with `allow_invalid_certificates` judges.
    struct LaxUse: Hashable {
        var policy: String
        var version: Int64
        var host: String
    }

    private let policies: NIOLockedValueBox<PolicyRegistry>
    private let admission: NIOLockedValueBox<AdmissionRules>
    private let taskPolicy: String?
    let authoritiesFile: String?
    private let clock: WallClock
    private let state: NIOLockedValueBox<State>

    /// - Parameter kept: the servers that sent the bytes of earlier runs.
    init(
        policies: NIOLockedValueBox<PolicyRegistry>, admission: NIOLockedValueBox<AdmissionRules>, taskPolicy: String?,
        authoritiesFile: String?, kept: [SourceEvidence], clock: @escaping WallClock
    ) {
        self.policies = policies
        self.admission = admission
        self.taskPolicy = taskPolicy
        self.authoritiesFile = authoritiesFile
        self.clock = clock
        state = NIOLockedValueBox(State(kept: kept, recorded: kept))
    }

    // MARK: Hops

    /// Returns the rules in force if they allow the hop and its proxy. Called on the engine's loop, before a hop and
    /// again in its handshake.
    func admit(_ url: HTTPURL, through proxy: ProxyServer?) throws(TransferError) -> AdmissionRules {
        let rules = admission.withLockedValue { rules in
            state.withLockedValue { $0.admission = rules }
            return rules
        }
        if let refusal = rules.refusal(ofHost: url.host, port: url.port) {
            throw TransferError(refusal, host: url.hostKey)
        }
        if let proxy, let refusal = rules.refusal(ofHost: proxy.host, port: proxy.port) {
            throw TransferError(.rejectedByPolicy, "the proxy \(proxy): \(refusal)", host: url.hostKey)
        }
        return rules
    }

    /// The policies for the hop's server, and for its proxy if the connection to that uses TLS. Called as `admit`.
    func policies(
        for url: HTTPURL, through proxy: ProxyServer?
    ) throws(TransferError) -> (origin: AppliedPolicies, proxy: AppliedPolicies?) {
        let origin = try resolve(Hop(origin: url.origin))
        if url.scheme == .https { recordLax(origin, host: url.hostKey) }
        guard let secure = proxy?.origin else { return (origin, nil) }
        let own = try resolve(Hop(origin: secure, isProxy: true))
        recordLax(own, host: "\(secure.host):\(secure.port)")
        return (origin, own)
    }

    /// Resolves a hop and records the result under the registry's lock, so that a later change of the policies finds it
    /// with `isStale`.
    private func resolve(_ hop: Hop) throws(TransferError) -> AppliedPolicies {
        let now = clock()
        let result = policies.withLockedValue { registry -> Result<AppliedPolicies, PolicyResolutionError> in
            do throws(PolicyResolutionError) {
                let applied = try resolve(hop, registry, at: now)
                state.withLockedValue { state in
                    state.hops[hop] = applied
                    if hop.origin.scheme == .https, state.authorities == nil {
                        state.authorities = registry.authorities
                    }
                }
                return .success(applied)
            } catch {
                return .failure(error)
            }
        }
        do throws(PolicyResolutionError) {
            return try result.get()
        } catch {
            throw TransferError(error, host: hop.origin.host)
        }
    }

    private func resolve(
        _ hop: Hop, _ registry: PolicyRegistry, at now: Timestamp
    ) throws(PolicyResolutionError) -> AppliedPolicies {
        try registry.resolver.resolve(hop.origin, taskPolicy: hop.isProxy ? nil : taskPolicy, at: now)
    }

    /// Whether some hop, or a server whose kept bytes were judged, would be judged differently now. The addresses that
    /// the lists judged are not recorded, so any change of the lists counts; so does any change of the authorities.
    func isStale(under registry: PolicyRegistry, _ rules: AdmissionRules, at now: Timestamp) -> Bool {
        let (hops, judged, authorities) = state.withLockedValue { ($0.hops, $0.admission, $0.authorities) }
        if let judged, judged != rules { return true }
        if let authorities, authorities != registry.authorities { return true }
        return hops.contains { hop, applied in (try? resolve(hop, registry, at: now)) != applied }
    }

    // MARK: Lax policies

    private func recordLax(_ applied: AppliedPolicies, host: String) {
        let uses = applied.all.filter { $0.policy.allowsInvalidCertificates && !$0.isExpired }.map {
            LaxUse(policy: $0.policy.name, version: $0.policy.version, host: host)
        }
        guard !uses.isEmpty else { return }
        state.withLockedValue { state in
            for use in uses where state.toldLax.insert(use).inserted { state.lax.append(use) }
        }
    }

    /// Uses since the last call, for the log. A host is reported once per attempt, even if its connection is reused.
    func removeLaxUses() -> [LaxUse] {
        state.withLockedValue { state in
            defer { state.lax = [] }
            return state.lax
        }
    }

    // MARK: Evidence of the servers

    /// Starts a new run on the transfer, with the servers recorded for its kept bytes.
    func beginAnew(kept: [SourceEvidence]) { state.withLockedValue { $0 = State(kept: kept, recorded: kept) } }

    func beginAttempt() {
        state.withLockedValue { state in
            state.kept = state.sources
            state.answering = []
            state.toldLax = []
        }
    }

    /// Records a server that answers in this attempt. Called on the engine's loop.
    func record(_ source: SourceEvidence) {
        state.withLockedValue { state in
            var source = source
            source.judgement = Judgement(source.judgement, state.authorities ?? "").text
            if !state.answering.contains(source) { state.answering.append(source) }
        }
    }

    /// Forgets the servers of dropped bytes; only those of this attempt remain.
    func forgetKept() {
        state.withLockedValue { state in
            state.kept = []
            state.recorded = []
        }
    }

    var hasRecordedSources: Bool { state.withLockedValue { !$0.recorded.isEmpty } }

    /// The servers to commit with the next offset; nil if the database has them. If only the built-in default applied,
    /// nothing is written until the run ends.
    func unrecordedSources(isLast: Bool) -> [SourceEvidence]? {
        state.withLockedValue { state in
            let sources = state.sources
            if sources == state.recorded { return nil }
            let isOrdinary = sources.allSatisfy {
                Judgement($0.judgement).policies == AppliedPolicies.ordinary.judgement
            }
            return isOrdinary && !isLast && state.recorded.isEmpty ? nil : sources
        }
    }

    func setRecorded(_ sources: [SourceEvidence]) { state.withLockedValue { $0.recorded = sources } }

    /// Why bytes of earlier runs may not be used any more; nil if the policies in force trust every server that sent
    /// them. May read the authorities' file.
    ///
    /// - Parameter urls: the origins to check if no server is recorded. They were trusted under the built-in default.
    /// - Throws: `policyMissing` if the task's policy does not exist; the bytes are kept until it does.
    func refusalOfKept(from urls: [HTTPURL]) throws(TransferError) -> String? {
        var kept = state.withLockedValue(\.kept)
        if let refusal = try judge(&kept, from: urls) { return refusal }
        state.withLockedValue { [kept] in $0.kept = kept }
        return nil
    }

    /// As `refusalOfKept`, for bytes in the cache.
    func refusal(of sources: [SourceEvidence], from urls: [HTTPURL]) throws(TransferError) -> String? {
        var sources = sources
        return try judge(&sources, from: urls)
    }

    /// All servers that sent bytes to this run, or to earlier runs whose bytes are kept.
    var sources: [SourceEvidence] { state.withLockedValue(\.sources) }

    /// Judges the servers in `kept` again, and records the policies that trust each of them.
    private func judge(_ kept: inout [SourceEvidence], from urls: [HTTPURL]) throws(TransferError) -> String? {
        let authorities = policies.withLockedValue(\.authorities)
        do throws(TransferError) {
            if kept.isEmpty {
                for url in urls
                where try resolve(Hop(origin: url.origin)).judgement != AppliedPolicies.ordinary.judgement {
                    return "what \(url.hostKey) showed is not known any more"
                }
            }
            for index in kept.indices {
                let applied = try resolve(Hop(origin: kept[index].origin))
                let judgement = Judgement(applied.judgement, authorities)
                if judgement.text == kept[index].judgement { continue }
                let refusal = SourceJudge.refusal(
                    of: kept[index], by: applied, authoritiesFile: authoritiesFile,
                    isStapleChecked: Judgement(kept[index].judgement).policies == applied.judgement)
                if let refusal { return refusal }
                kept[index].judgement = judgement.text
            }
        } catch {
            if error.reason == .policyMissing { throw error }
            return error.message
        }
        return nil
    }
}

/// The basis on which a server was trusted: the policies' versions and the contents of the authorities' file. Rows of
/// earlier program versions lack the authorities: their servers are judged again.
struct Judgement {
    let policies: String
    let authorities: String

    init(_ policies: String, _ authorities: String) {
        self.policies = policies
        self.authorities = authorities
    }

    init(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(String(parts.first ?? ""), String(parts.dropFirst().first ?? ""))
    }

    var text: String { authorities.isEmpty ? policies : "\(policies)@\(authorities)" }
}
