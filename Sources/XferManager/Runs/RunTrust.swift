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
        var reportedLax: Set<LaxUse> = []
        var lax: [LaxUse] = []
        /// The servers that sent the bytes of earlier attempts.
        var kept: SourceLedger
        /// The servers that answered in this attempt.
        var answering = SourceLedger()
        /// The servers that the database has.
        var recorded: [SourceEvidence]
        /// The identity of the trust settings in force when a server was recorded last. Only set where many servers
        /// sent the bytes.
        var settings = ""

        init(kept: [SourceEvidence]) {
            self.kept = SourceLedger(kept)
            recorded = kept
        }

        /// All servers, earlier ones first.
        var sources: SourceLedger {
            if answering.isEmpty { return kept }
            var all = kept
            all.formUnion(answering, under: settings)
            return all
        }

        /// True if the next server may be one that is not listed.
        var isAlmostFull: Bool { kept.entries.count + answering.entries.count >= SourceLedger.maxCount / 2 }
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
        state = NIOLockedValueBox(State(kept: kept))
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

    /// True if some hop, or a server whose kept bytes were judged, would be judged differently now. The judged
    /// addresses are not recorded, so any change of the lists of addresses counts, and so does any change of the
    /// authorities.
    func isStale(under registry: PolicyRegistry, _ rules: AdmissionRules, at now: Timestamp) -> Bool {
        let (hops, judged, authorities) = state.withLockedValue { ($0.hops, $0.admission, $0.authorities) }
        if let judged, judged != rules { return true }
        if let authorities, authorities != registry.authorities { return true }
        return hops.contains { hop, applied in (try? resolve(hop, registry, at: now)) != applied }
    }

    // MARK: Lax policies

    private func recordLax(_ applied: AppliedPolicies, host: String) {
        let uses = applied.all.filter(\.isLax).map {
            LaxUse(policy: $0.policy.name, version: $0.policy.version, host: host)
        }
        guard !uses.isEmpty else { return }
        state.withLockedValue { state in
            for use in uses where state.reportedLax.insert(use).inserted { state.lax.append(use) }
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
    func restart(kept: [SourceEvidence]) { state.withLockedValue { $0 = State(kept: kept) } }

    func beginAttempt() {
        state.withLockedValue { state in
            state.kept = state.sources
            state.answering = SourceLedger()
            state.reportedLax = []
        }
    }

    /// Records a server that answers in this attempt. Called on the engine's loop.
    func record(_ source: SourceEvidence) {
        // Read before `state` is locked: elsewhere the registry is locked first.
        let settings = state.withLockedValue(\.isAlmostFull) ? settings : ""
        state.withLockedValue { state in
            var source = source
            source.judgement = Judgement(source.judgement, of: source.origin, state.authorities ?? "").text
            if !settings.isEmpty { state.settings = settings }
            state.answering.insert(source, under: settings)
        }
    }

    /// Identifies the trust settings in force: equal settings judge every server in the same way.
    private var settings: String {
        let now = clock()
        return "\(policies.withLockedValue { $0.identity(at: now) })/\(taskPolicy ?? "")"
    }

    /// Removes the servers of discarded bytes; only those of this attempt remain.
    func forgetKept() {
        state.withLockedValue { state in
            state.kept = SourceLedger()
            state.recorded = []
        }
    }

    var hasRecordedSources: Bool { state.withLockedValue { !$0.recorded.isEmpty } }

    /// The servers to commit with the next offset; nil if the database has them. If only the built-in default applied,
    /// nothing is written until the run ends.
    func unrecordedSources(isLast: Bool) -> [SourceEvidence]? {
        state.withLockedValue { state in
            let sources = state.sources.entries
            if sources == state.recorded { return nil }
            let isOrdinary = sources.allSatisfy {
                Judgement($0.judgement).policies == AppliedPolicies.ordinary.judgement
            }
            return isOrdinary && !isLast && state.recorded.isEmpty ? nil : sources
        }
    }

    func setRecorded(_ sources: [SourceEvidence]) { state.withLockedValue { $0.recorded = sources } }

    /// The reason why bytes of earlier runs may no longer be used; nil if the policies in force trust every server that
    /// sent them. May read the authorities' file.
    ///
    /// - Parameter urls: the origins to check if no server is recorded. They were trusted under the built-in default.
    /// - Throws: `policyMissing` if the task's policy does not exist; the bytes are kept until it does.
    func refusalOfKept(from urls: [HTTPURL]) throws(TransferError) -> String? {
        var kept = state.withLockedValue(\.kept)
        if let refusal = try judge(&kept, from: urls) { return refusal }
        state.withLockedValue { [kept] in $0.kept = kept }
        return nil
    }

    /// The refusal of bytes in the cache, with the rules of `refusalOfKept`.
    func refusal(of sources: [SourceEvidence], from urls: [HTTPURL]) throws(TransferError) -> String? {
        var sources = SourceLedger(sources)
        return try judge(&sources, from: urls)
    }

    /// All servers that sent bytes to this run, or to earlier runs whose bytes are kept.
    var sources: [SourceEvidence] { state.withLockedValue(\.sources.entries) }

    /// Judges the servers in `kept` again, and records the policies that trust each of them.
    private func judge(_ kept: inout SourceLedger, from urls: [HTTPURL]) throws(TransferError) -> String? {
        let authorities = policies.withLockedValue(\.authorities)
        if let refusal = kept.refusalOfUnlisted(under: settings) { return refusal }
        do throws(TransferError) {
            if kept.isEmpty {
                for url in urls
                where try resolve(Hop(origin: url.origin)).judgement != AppliedPolicies.ordinary.judgement {
                    return "the certificates of \(url.hostKey) are no longer known"
                }
            }
            for (index, source) in kept.entries.enumerated() where source.settingsOfUnlisted == nil {
                let applied = try resolve(Hop(origin: source.origin))
                let judgement = Judgement(applied.judgement, of: source.origin, authorities)
                if judgement.text == source.judgement { continue }
                let refusal = SourceJudge.refusal(
                    of: source, by: applied, authoritiesFile: authoritiesFile,
                    isStapleChecked: Judgement(source.judgement).policies == applied.judgement)
                if let refusal { return refusal }
                kept.setJudgement(judgement.text, at: index)
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

    private init(_ policies: String, _ authorities: String) {
        self.policies = policies
        self.authorities = authorities
    }

    /// The judgement of a server; over `http` the authorities do not matter.
    init(_ policies: String, of origin: Origin, _ authorities: String) {
        self.init(policies, origin.scheme == .https ? authorities : "")
    }

    init(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(String(parts.first ?? ""), String(parts.dropFirst().first ?? ""))
    }

    var text: String { authorities.isEmpty ? policies : "\(policies)@\(authorities)" }
}
