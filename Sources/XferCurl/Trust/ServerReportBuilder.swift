import XferCore
import XferModel

/// Judges the certificates of one handshake twice: by each policy separately, and stage by stage.
struct ServerReportBuilder {
    /// The certificates in the order the server sent them, leaf first.
    let chain: [Certificate]
    let stapledStatus: StapledStatus?
    let target: TrustTarget
    let evaluator: ServerTrustEvaluator

    /// Fills in the chain, the opinions and the stages of `report`.
    func describe(_ policies: AppliedPolicies, at now: Timestamp, in report: inout ServerReport) {
        report.chain = chain.map { certificate in
            ServerReport.Certificate(
                subject: certificate.subject, issuer: certificate.issuer, names: certificate.alternativeNames,
                notBefore: certificate.notBefore, notAfter: certificate.notAfter, key: certificate.key,
                pem: certificate.pem,
                pinnedBy: policies.all.map(\.policy).filter { $0.pins(certificate) }.map(\.name))
        }
        report.opinions = policies.all.map { applied in
            let verdict = verdict(of: applied)
            return ServerReport.Opinion(
                policy: applied.policy.name, version: applied.policy.version, failure: verdict.failure,
                violation: verdict.violations.first, isExpired: applied.isExpired)
        }
        guard let leaf = chain.first else { return }
        report.stages = [chainStage, nameStage(of: leaf, report.origin), datesStage(of: leaf, at: now)]
        if let stage = revocationStage(isRequired: policies.enforcesStapledOCSP) { report.stages.append(stage) }
        if let stage = pinStage(of: policies) { report.stages.append(stage) }
    }

    private func verdict(of applied: AppliedPolicy) -> TrustVerdict {
        var verdict = evaluator.evaluate(chain, for: target, by: applied)
        if let stapledStatus { verdict.add(evaluator.evaluate(stapledStatus, of: chain, for: target, by: applied)) }
        return verdict
    }

    // MARK: Stages

    /// The judgement of the chain: whether it leads to a system anchor. The host name is not compared.
    private var chainStage: ServerReport.StageVerdict {
        let nameless = TrustPolicy(name: TrustPolicy.defaultName, validatesDomainName: false)
        let failure = verdict(of: AppliedPolicy(nameless, at: Timestamp(microseconds: 0))).failure
        return ServerReport.StageVerdict(
            .chain, isPassed: failure == nil, detail: failure?.problem ?? "leads to a trusted authority")
    }

    private func nameStage(of leaf: Certificate, _ origin: Origin) -> ServerReport.StageVerdict {
        let namesHost = leaf.names(target.host)
        return ServerReport.StageVerdict(
            .name, isPassed: namesHost,
            detail: namesHost ? "is valid for \(origin.host)" : "is not valid for \(origin.host)")
    }

    private func datesStage(of leaf: Certificate, at now: Timestamp) -> ServerReport.StageVerdict {
        let outdated = chain.first { now < $0.notBefore || $0.notAfter <= now }
        return ServerReport.StageVerdict(
            .dates, isPassed: outdated == nil,
            detail: outdated.map { "\($0.subject) is valid from \($0.notBefore) to \($0.notAfter)" }
                ?? "valid until \(chain.map(\.notAfter).min() ?? leaf.notAfter)")
    }

    private func revocationStage(isRequired: Bool) -> ServerReport.StageVerdict? {
        stapledStatus.map { status in
            let isIgnored =
                isRequired ? "" : "; no policy requires one, and nothing else is queried: neither CRLs nor OCSP"
            return ServerReport.StageVerdict(
                .revocation, isPassed: status.isGood || status == .missing && !isRequired,
                detail: "\(status)\(isIgnored)")
        }
    }

    /// The judgement of the pins: whether the chain has a pinned certificate for each policy that pins; nil if no
    /// policy pins.
    private func pinStage(of policies: AppliedPolicies) -> ServerReport.StageVerdict? {
        let pinning = policies.all.filter(\.isPinning)
        guard !pinning.isEmpty else { return nil }
        let missed = pinning.first { applied in !chain.contains { applied.policy.pins($0) } }
        return ServerReport.StageVerdict(
            .pins, isPassed: missed == nil,
            detail: missed.map { "no certificate of the server is pinned by \"\($0.policy.name)\"" }
                ?? "the chain matches a pin of each policy")
    }
}

extension TrustPolicy {
    /// True if the certificate, or its key, is among the pins.
    fileprivate func pins(_ certificate: Certificate) -> Bool {
        pins.contains { pin in
            switch (mode, pin) {
            case (.certificate, .certificate(let pin)): pin.der == certificate.der
            case (.certificate, .key), (.none, _): false
            case (.publicKey, _): pin.key == certificate.key
            }
        }
    }
}
