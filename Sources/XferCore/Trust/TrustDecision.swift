public import XferModel

/// Judges a server by a policy: a pure decision over facts that the caller gathered.
public enum TrustDecision {
    public static func judge(_ applied: AppliedPolicy, _ facts: TrustFacts) -> TrustJudgement {
        let refusal = refusal(applied.rule, facts)
        guard applied.isReportOnly, let refusal else { return refusal.map { .refused($0) } ?? .accepted }
        // A `report_only` policy refuses nothing that an ordinary check accepts, and accepts nothing that it refuses.
        return self.refusal(.require(.ordinary), facts) == nil ? .reported(refusal) : .refused(refusal)
    }

    private static func refusal(_ rule: TrustRule, _ facts: TrustFacts) -> TrustRefusal? {
        switch rule {
        case .reject(let contradiction):
            return TrustRefusal(reason: .trustRejected, code: 0, problems: [contradiction.description])
        case .require(let checks):
            var refusal = TrustRefusal(reason: .pinMismatch, code: 0, problems: [])
            if checks.contains(.systemChain) { refusal.add(facts.systemChain, isPinned: false) }
            if checks.contains(.hostName) { refusal.add(facts.hostName) }
            if checks.contains(.pinnedChain) { refusal.add(facts.pinnedChain, isPinned: true) }
            // Without a valid chain there are no pins to compare: the chain's fault is sufficient.
            if checks.contains(.certificate), !facts.chainHasPinnedCertificate,
                facts.pinnedChain == .valid || !checks.contains(.pinnedChain)
            {
                refusal.add("no certificate of the chain is pinned", isPin: true)
            }
            if checks.contains(.chainKey), !facts.chainHasPinnedKey,
                facts.systemChain == .valid || !checks.contains(.systemChain)
            {
                refusal.add("no key of the chain is pinned", isPin: true)
            }
            if checks.contains(.leafKey), !facts.leafHasPinnedKey {
                refusal.add("the certificate's key is not pinned", isPin: true)
            }
            return refusal.problems.isEmpty ? nil : refusal
        }
    }
}

/// The result of one policy.
public enum TrustJudgement: Hashable, Sendable {
    case accepted
    case refused(TrustRefusal)
    /// Would have been refused if the policy were not `report_only`.
    case reported(TrustRefusal)
}

/// Everything that was found wrong.
public struct TrustRefusal: Hashable, Sendable {
    /// `pin_mismatch` when nothing but pins is wrong, else `trust_rejected`.
    public var reason: FailureReason
    /// The first fault's X509_V_ERR code, 0 for pins that merely do not match.
    public var code: Int32
    public var problems: [String]

    public init(reason: FailureReason, code: Int32, problems: [String]) {
        self.reason = reason
        self.code = code
        self.problems = problems
    }

    fileprivate mutating func add(_ problem: String, isPin: Bool) {
        problems.append(problem)
        if !isPin { reason = .trustRejected }
    }

    fileprivate mutating func add(_ name: TrustFacts.HostName) {
        switch name {
        case .matches:
            break
        case .unchecked:
            add("the name was not checked", isPin: false)
        case .mismatch(let mismatch):
            if code == 0 { code = mismatch }
            add("no alternative certificate subject name matches the host", isPin: false)
        }
    }

    fileprivate mutating func add(_ chain: TrustFacts.Chain, isPinned: Bool) {
        switch chain {
        case .valid:
            break
        case .unchecked:
            add("the chain was not checked", isPin: false)
        case .invalid(let fault):
            if code == 0 { code = fault.code }
            let anchors = isPinned ? "with the pins as anchors: " : ""
            add("\(anchors)\(fault.text) (certificate \(fault.depth))", isPin: isPinned && fault.lacksAnchor)
        }
    }
}
