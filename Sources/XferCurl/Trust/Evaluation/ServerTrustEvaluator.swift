import COpenSSL
import XferCore
import XferModel

/// The server of a connection, and the policies that its certificates must satisfy.
struct TrustTarget: Sendable, Hashable {
    /// The host of the attempt. It is not the SNI, which does not exist for IP addresses.
    var host: ServerName
    var port: UInt16
    var policies: AppliedPolicies
}

extension TrustTarget {
    init(_ origin: Origin, policies: AppliedPolicies) {
        self.init(host: ServerName(host: origin.host), port: origin.port, policies: policies)
    }
}

/// Judges a server's certificates. It gathers the facts with OpenSSL, and `TrustDecision` decides.
struct ServerTrustEvaluator: Sendable {
    let anchors: TrustAnchors

    /// Judges certificates outside a handshake.
    /// - Parameters:
    ///   - certificates: the list that the server sent, leaf first.
    ///   - policy: the only policy to judge by; nil for those of the target.
    ///   - securityLevel: 0 … 5, SSL_CTX_set_security_level(3).
    func evaluate(
        _ certificates: [Certificate], for target: TrustTarget, by policy: AppliedPolicy? = nil,
        securityLevel: Int32 = 2
    ) -> TrustVerdict {
        guard let leaf = certificates.first else { return refuseWithoutCertificate(target) }
        let stack = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(stack) }
        for certificate in certificates { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.pointer)) }
        return withExtendedLifetime(certificates) {
            evaluate(
                PresentedChain(leaf: leaf.pointer, others: stack, securityLevel: securityLevel), for: target,
                by: policy)
        }
    }

    func evaluate(
        _ presented: PresentedChain, for target: TrustTarget, by policy: AppliedPolicy? = nil
    ) -> TrustVerdict {
        var checker = TrustFactChecker(presented, host: target.host, anchors: anchors)
        var verdict = TrustVerdict()
        var notes = ""
        for applied in policy.map({ [$0] }) ?? target.policies.all {
            let policy = applied.policy
            if applied.isExpired { verdict.expired.append(policy.name) }
            if applied.isLax { verdict.lax.append(policy.name) }
            func failure(_ refusal: TrustRefusal) -> TrustFailure {
                Self.failure(refusal, of: policy, target, chain: presented.certificates.map(\.shown))
            }
            let judgement = TrustDecision.judge(applied, checker.facts(for: applied))
            if let note = TrustDecision.note(of: applied, judgement) { notes += "; \(note)" }
            switch judgement {
            case .accepted:
                break
            case .reported(let refusal):
                verdict.violations.append(failure(refusal))
            case .refused(let refusal):
                if verdict.failure == nil { verdict.failure = failure(refusal) }
            }
        }
        // A violation is something that was accepted.
        if verdict.failure != nil {
            verdict.failure?.problem += notes
            verdict.violations = []
        }
        return verdict
    }

    /// The status of the OCSP response that a server stapled to its handshake; `missing` when it sent none.
    func status(of staple: [UInt8]?, _ presented: PresentedChain) -> StapledStatus {
        do throws(TrustAnchorsError) {
            return StapleCheck.status(of: staple, presented, anchors: try anchors.current().store)
        } catch {
            return .unusable(error.description)
        }
    }

    /// Judges the stapled OCSP response, after `evaluate` has accepted the chain.
    /// - Parameter policy: the only policy to judge by; nil for those of the target.
    func evaluate(
        _ status: StapledStatus, of certificates: [Certificate], for target: TrustTarget,
        by policy: AppliedPolicy? = nil
    ) -> TrustVerdict {
        var verdict = TrustVerdict()
        for applied in policy.map({ [$0] }) ?? target.policies.all {
            func failure(_ refusal: TrustRefusal) -> TrustFailure {
                Self.failure(refusal, of: applied.policy, target, chain: certificates.map(\.shown))
            }
            switch TrustDecision.judge(applied, status) {
            case .accepted: break
            case .reported(let refusal): verdict.violations.append(failure(refusal))
            case .refused(let refusal): if verdict.failure == nil { verdict.failure = failure(refusal) }
            }
        }
        return verdict
    }

    func refuseWithoutCertificate(_ target: TrustTarget) -> TrustVerdict {
        let refusal = TrustRefusal(
            reason: .trustRejected, code: X509_V_ERR_APPLICATION_VERIFICATION,
            problems: ["the server sent no certificate"])
        return TrustVerdict(failure: Self.failure(refusal, of: target.policies.host.policy, target, chain: []))
    }

    private static func failure(
        _ refusal: TrustRefusal, of policy: TrustPolicy, _ target: TrustTarget, chain: [ShownCertificate]
    ) -> TrustFailure {
        TrustFailure(
            reason: refusal.reason, host: target.host.description, port: target.port, policy: policy.name,
            policyVersion: policy.version, code: refusal.code, problem: refusal.problems.joined(separator: "; "),
            chain: chain, isForOtherHost: refusal.isForOtherHost ? true : nil)
    }
}
