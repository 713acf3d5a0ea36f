import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel

/// What a server sent in its handshake, and how the policies judge it.
public struct ServerReport: Hashable, Sendable {
    public struct Certificate: Hashable, Sendable {
        public var subject: String
        public var issuer: String
        public var names: [String]
        public var notBefore: Timestamp
        public var notAfter: Timestamp
        public var key: KeyPin
        public var pem: String
        /// Policies that pin it or its key.
        public var pinnedBy: [String]
    }

    public struct Opinion: Hashable, Sendable {
        public var policy: String
        public var version: Int64
        /// Why the policy refuses; nil accepts.
        public var failure: TrustFailure?
        /// What the policy would refuse if it were not `report_only`.
        public var violation: TrustFailure?
        public var isExpired: Bool
    }

    /// The stages of a judgement, in order.
    public enum Stage: String, Sendable, CaseIterable {
        case chain, name, dates, revocation, pins
    }

    public struct StageVerdict: Hashable, Sendable {
        public var stage: Stage
        public var isPassed: Bool
        public var detail: String
    }

    public var origin: Origin
    public var tlsVersion: String?
    /// Leaf first, as sent.
    public var chain: [Certificate]
    public var stages: [StageVerdict]
    public var opinions: [Opinion]
    /// Whether all policies accept and the handshake succeeded.
    public var isAccepted: Bool
    /// Why there was nothing to judge, or why the handshake failed for a reason other than trust.
    public var failure: String?
}

extension ServerReport {
    init(
        _ origin: Origin, _ seen: ServerInspection.Report, _ applied: AppliedPolicies, at now: Timestamp
    ) {
        self.origin = origin
        tlsVersion = seen.tlsVersion
        chain = seen.chain.map { certificate in
            Certificate(
                subject: certificate.subject, issuer: certificate.issuer, names: certificate.names,
                notBefore: certificate.notBefore, notAfter: certificate.notAfter, key: certificate.key,
                pem: certificate.pem,
                pinnedBy: applied.all.map(\.policy).filter { $0.pins(certificate) }.map(\.name))
        }
        opinions = seen.opinions.map {
            Opinion(
                policy: $0.policy.name, version: $0.policy.version, failure: $0.failure, violation: $0.violation,
                isExpired: $0.isExpired)
        }
        isAccepted = seen.isAccepted
        failure = seen.failure
        stages = []
        guard let leaf = seen.chain.first else { return }
        stages.append(
            StageVerdict(
                stage: .chain, isPassed: seen.chainFailure == nil,
                detail: seen.chainFailure?.problem ?? "leads to a trusted authority"))
        stages.append(
            StageVerdict(
                stage: .name, isPassed: leaf.namesHost,
                detail: leaf.namesHost ? "names \(origin.host)" : "does not name \(origin.host)"))
        let outdated = seen.chain.first { now < $0.notBefore || $0.notAfter <= now }
        stages.append(
            StageVerdict(
                stage: .dates, isPassed: outdated == nil,
                detail: outdated.map { "\($0.subject) is valid from \($0.notBefore) to \($0.notAfter)" }
                    ?? "valid until \(seen.chain.map(\.notAfter).min() ?? leaf.notAfter)"))
        let isRequired = applied.requiresStapledOCSP
        if let status = seen.stapledStatus {
            let isIgnored =
                isRequired ? "" : "; no policy requires one, and nothing else is asked: neither CRLs nor OCSP"
            stages.append(
                StageVerdict(
                    stage: .revocation, isPassed: status.isGood || status == .missing && !isRequired,
                    detail: "\(status)\(isIgnored)"))
        }
        let pinning = applied.all.filter(\.isPinning)
        guard !pinning.isEmpty else { return }
        let missed = pinning.filter { applied in !seen.chain.contains { applied.policy.pins($0) } }
        stages.append(
            StageVerdict(
                stage: .pins, isPassed: missed.isEmpty,
                detail: missed.first.map { "nothing that was shown is pinned by \"\($0.policy.name)\"" }
                    ?? "a pin of each policy was shown"))
    }
}

extension TrustPolicy {
    /// Whether the certificate, or its key, is among the pins.
    fileprivate func pins(_ certificate: ServerInspection.ShownChainCertificate) -> Bool {
        pins.contains { pin in
            switch (mode, pin) {
            case (.certificate, .certificate(let pin)): pin.der == certificate.der
            case (.certificate, .key), (.none, _): false
            case (.publicKey, _): pin.key == certificate.key
            }
        }
    }
}
