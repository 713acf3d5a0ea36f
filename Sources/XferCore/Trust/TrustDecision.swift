public import XferModel

/// Judges a server by a policy: a pure decision over facts that the caller gathered.
///
/// `TrustFactChecker` of `XferCurl` gathers them in the handshake; it also compares the pins.
public enum TrustDecision {
    /// The judgement of one policy. A report-only policy yields the decision that it would make if it were enforced,
    /// and is never `refused`.
    public static func judge(_ applied: AppliedPolicy, _ facts: TrustFacts) -> TrustJudgement {
        var refusal = refusal(applied.rule, facts)
        guard applied.isReportOnly else { return refusal.map { .refused($0) } ?? .accepted }
        if applied.isExpired { return .accepted }
        // An enforced `min_tls` ends the handshake earlier.
        if let tls = facts.tls, tls < applied.policy.minimumTLS {
            refusal = refusal ?? TrustRefusal(reason: .trustRejected, code: 0, problems: [])
            refusal?.add("TLS \(tls.rawValue) is below min_tls \(applied.policy.minimumTLS.rawValue)", isPin: false)
        }
        return refusal.map { .reported($0) } ?? .accepted
    }

    /// The note of a report-only policy on a server that the policies in force refuse; nil from other policies.
    public static func note(of applied: AppliedPolicy, _ judgement: TrustJudgement) -> String? {
        guard applied.isReportOnly, !applied.isExpired else { return nil }
        let policy = "the report_only policy \"\(applied.policy.name)\""
        return switch judgement {
        case .accepted: "\(policy) would accept the server if it were enforced"
        case .reported(let refusal), .refused(let refusal):
            "\(policy) would refuse it, too: \(refusal.problems.joined(separator: ", "))"
        }
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
            if checks.contains(.chainKey), facts.systemChain != .valid, facts.sentPinnedKey == false {
                refusal.add("no key of the sent certificates is pinned, either", isPin: true)
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
    /// The server would be refused if the policy were not `report_only`.
    case reported(TrustRefusal)
}

/// All failures that were found.
public struct TrustRefusal: Hashable, Sendable {
    /// `pin_mismatch` when only the pins fail, else `trust_rejected`.
    public var reason: FailureReason
    /// The first fault's X509_V_ERR code, 0 for pins that merely do not match.
    public var code: Int32
    public var problems: [String]
    /// True if the certificate is not valid for the host, and the policy checks that.
    public private(set) var isForOtherHost = false

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
            isForOtherHost = true
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

/// The status of a certificate by the OCSP response that the server stapled.
public enum StapledStatus: Hashable, Sendable, CustomStringConvertible {
    /// The server sent none.
    case missing
    /// The response proves nothing.
    case unusable(String)
    case revoked(at: Timestamp?)
    /// The certificate is not revoked; the response is valid until that time.
    case good(until: Timestamp?)

    public var isGood: Bool { if case .good = self { true } else { false } }

    public var description: String {
        switch self {
        case .missing: "the server staples no OCSP response"
        case .unusable(let problem): "the stapled OCSP response cannot be used: \(problem)"
        case .revoked(let time): "the certificate was revoked" + (time.map { " at \($0)" } ?? "")
        case .good(let end):
            "the stapled OCSP response says that it is not revoked" + (end.map { ", valid until \($0)" } ?? "")
        }
    }
}

extension TrustDecision {
    /// Judges the stapled response of a server, once its chain was accepted.
    public static func judge(_ applied: AppliedPolicy, _ status: StapledStatus) -> TrustJudgement {
        guard applied.requiresStapledOCSP, !status.isGood else { return .accepted }
        let refusal = TrustRefusal(reason: .revocationUnknown, code: 0, problems: [status.description])
        return applied.isReportOnly ? .reported(refusal) : .refused(refusal)
    }
}

/// The result of a handshake: the judgements of all policies that applied to it.
public struct TrustVerdict: Hashable, Sendable {
    /// The reason why the connection is refused, by the first policy that does; nil accepts.
    public var failure: TrustFailure?
    /// The failures that `report_only` policies would have reported.
    public var violations: [TrustFailure]
    /// Policies that have expired and were replaced by the ordinary check.
    public var expired: [String]
    /// Policies that accepted a server that the ordinary check would refuse, or that checked nothing.
    public var lax: [String]

    public init(
        failure: TrustFailure? = nil, violations: [TrustFailure] = [], expired: [String] = [], lax: [String] = []
    ) {
        self.failure = failure
        self.violations = violations
        self.expired = expired
        self.lax = lax
    }

    /// Adds a judgement from later in the same handshake.
    public mutating func add(_ later: TrustVerdict) {
        failure = failure ?? later.failure
        violations += later.violations
        expired += later.expired
        lax += later.lax
    }

    public var isAccepted: Bool { failure == nil }

    /// True if an operator has to be informed.
    public var isRemarkable: Bool { failure != nil || !violations.isEmpty || !expired.isEmpty || !lax.isEmpty }
}
