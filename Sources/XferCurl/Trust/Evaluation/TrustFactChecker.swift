import COpenSSL
import XferCore
import XferModel

/// Gathers the facts that each policy needs: builds the chains, and compares the policy's pins with their certificates
/// and keys.
///
/// The system chain is built at most once; the other facts are gathered for each policy, since pins differ.
struct TrustFactChecker {
    private let presented: PresentedChain
    private let host: ServerName
    private let anchors: TrustAnchors
    private var system: (chain: TrustFacts.Chain, keys: Set<KeyPin>)?

    init(_ presented: PresentedChain, host: ServerName, anchors: TrustAnchors) {
        self.presented = presented
        self.host = host
        self.anchors = anchors
    }

    mutating func facts(for applied: AppliedPolicy) -> TrustFacts {
        var facts = TrustFacts()
        facts.tls = presented.tls
        let needed = applied.neededChecks
        let pins = applied.policy.pins
        if needed.contains(.hostName) {
            facts.hostName = Certificate.names(presented.leaf, host) ? .matches : .mismatch(code: mismatchCode)
        }
        if !needed.isDisjoint(with: [.systemChain, .chainKey]) {
            let (chain, keys) = systemChain()
            facts.systemChain = chain
            facts.chainHasPinnedKey = pins.contains { keys.contains($0.key) }
            if needed.contains(.chainKey), chain != .valid {
                let sent = Set(presented.certificates.map(\.key))
                facts.sentPinnedKey = pins.contains { sent.contains($0.key) }
            }
        }
        if !needed.isDisjoint(with: [.pinnedChain, .certificate]) {
            (facts.pinnedChain, facts.chainHasPinnedCertificate) = pinnedChain(pins)
        }
        if needed.contains(.leafKey) {
            let key = Certificate.key(of: presented.leaf)
            facts.leafHasPinnedKey = pins.contains { $0.key == key }
        }
        return facts
    }

    private var mismatchCode: Int32 {
        switch host {
        case .domain: X509_V_ERR_HOSTNAME_MISMATCH
        case .address: X509_V_ERR_IP_ADDRESS_MISMATCH
        }
    }

    private mutating func systemChain() -> (TrustFacts.Chain, Set<KeyPin>) {
        if let system { return system }
        var keys: Set<KeyPin> = []
        var chain: TrustFacts.Chain
        do throws(TrustAnchorsError) {
            let snapshot = try anchors.current()
            chain = ChainVerifier.verify(presented, anchors: snapshot.store) { valid in
                keys = Set(valid.map(Certificate.key(of:)))
            }
        } catch {
            chain = .invalid(
                ChainFault(
                    code: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, text: error.description, depth: 0, lacksAnchor: true))
        }
        system = (chain, keys)
        return (chain, keys)
    }

    private func pinnedChain(_ pins: [Pin]) -> (TrustFacts.Chain, Bool) {
        var pinned: [Certificate] = []
        for case .certificate(let pin) in pins {
            // A pin that is not a certificate is refused when the policy is written. Here it makes the chain invalid:
            // skipping it would check against fewer pins.
            guard let certificate = Certificate(der: pin.der) else {
                let fault = ChainFault(
                    code: X509_V_ERR_UNSPECIFIED, text: "a pin is not a certificate", depth: 0, lacksAnchor: false)
                return (.invalid(fault), false)
            }
            pinned.append(certificate)
        }
        let ders = Set(pinned.map(\.der))
        var isPinned = false
        let chain = ChainVerifier.verify(presented, anchors: AnchorStore(pinned)) { valid in
            isPinned = valid.contains { ders.contains(Certificate.der(of: $0)) }
        }
        return (chain, isPinned)
    }
}
