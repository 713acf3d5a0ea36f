import Testing
import XferCore
import XferModel
import XferTestSupport

/// The table of the specification once more, written as the text it is: a row per mode and pins, a column per I and D.
/// `sys` and `pin` are valid chains, `+host` the name, `K`, `C` the matches, `leafK` the match of the leaf.
struct StatedTable {
    private static let text = """
        none       without | sys+host       | sys       | reject         | accept
        none       with    | sys+host       | sys       | reject         | accept
        public_key without | reject         | reject    | reject         | reject
        public_key with    | sys+host+K     | sys+K     | host+leafK     | leafK
        certificate without| reject         | reject    | reject         | reject
        certificate with   | sys+host+pin+C | sys+pin+C | pin+host+C     | pin+C
        """

    /// What a cell asks for, nil when it rejects everything.
    static func words(_ mode: String, _ hasPins: Bool, _ allowsInvalid: Bool, _ checksName: Bool) -> Set<String>? {
        let row = text.split(separator: "\n").first { line in
            let head = line.split(separator: "|")[0].split(separator: " ")
            return head[0] == mode && head[1] == (hasPins ? "with" : "without")
        }
        let columns = row?.split(separator: "|").dropFirst().map { $0.filter { $0 != " " } } ?? []
        let column =
            switch (allowsInvalid, checksName) {
            case (false, true): 0
            case (false, false): 1
            case (true, true): 2
            case (true, false): 3
            }
        if columns[column] == "reject" { return nil }
        if columns[column] == "accept" { return [] }
        return Set(columns[column].split(separator: "+").map(String.init))
    }
}

@Suite struct TrustTableTests {
    private static let pin = Pin.key(KeyPin(digest: Array(repeating: 1, count: 32)) ?? KeyPin.none)

    private static func policy(_ mode: TrustPolicy.Mode, _ hasPins: Bool, _ invalid: Bool, _ name: Bool) -> TrustPolicy
    {
        TrustPolicy(
            name: "p", mode: mode, pins: hasPins ? [pin] : [], allowsInvalidCertificates: invalid,
            validatesDomainName: name)
    }

    /// All 2⁶ facts.
    private static let allFacts: [(facts: TrustFacts, words: Set<String>)] = (0..<64).map { bits in
        var facts = TrustFacts()
        var words: Set<String> = []
        func is_(_ bit: Int, _ word: String) -> Bool {
            guard bits & 1 << bit != 0 else { return false }
            words.insert(word)
            return true
        }
        let fault = TrustFacts.Chain.invalid(ChainFault(code: 20, text: "no issuer", depth: 0, lacksAnchor: true))
        facts.systemChain = is_(0, "sys") ? .valid : fault
        facts.pinnedChain = is_(1, "pin") ? .valid : fault
        facts.hostName = is_(2, "host") ? .matches : .mismatch(code: 62)
        facts.chainHasPinnedKey = is_(3, "K")
        facts.chainHasPinnedCertificate = is_(4, "C")
        facts.leafHasPinnedKey = is_(5, "leafK")
        return (facts, words)
    }

    private static let now = Timestamp(seconds: 1_800_000_000)

    @Test(arguments: TrustPolicy.Mode.allCases, [false, true])
    func everyCellOfTheTrustTableIsDecidedUnderAllFacts(mode: TrustPolicy.Mode, hasPins: Bool) {
        for invalid in [false, true] {
            for name in [false, true] {
                let stated = StatedTable.words(mode.rawValue, hasPins, invalid, name)
                let applied = AppliedPolicy(Self.policy(mode, hasPins, invalid, name), at: Self.now)
                for (facts, words) in Self.allFacts {
                    let isAccepted = TrustDecision.judge(applied, facts) == .accepted
                    #expect(
                        isAccepted == (stated?.isSubset(of: words) ?? false),
                        "\(mode) \(hasPins) \(invalid) \(name) \(words)")
                }
            }
        }
    }

    @Test(arguments: TrustPolicy.Mode.allCases)
    func factsThatWereNotCheckedCountAgainstTheServer(mode: TrustPolicy.Mode) {
        for (hasPins, invalid, name) in [(true, false, true), (true, true, true), (true, false, false)] {
            let applied = AppliedPolicy(Self.policy(mode, hasPins, invalid, name), at: Self.now)
            #expect(TrustDecision.judge(applied, TrustFacts()) != .accepted)
        }
    }

    @Test func randomPoliciesAndFactsFollowTheTrustTable() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<10_000 {
            var policy = Self.policy(
                TrustPolicy.Mode.allCases.randomElement(using: &random) ?? .none, random.chance(0.7),
                random.chance(0.5),
                random.chance(0.5))
            policy.isReportOnly = random.chance(0.3)
            policy.expiresAt = random.chance(0.3) ? Self.now.advanced(by: .seconds(random.chance(0.5) ? -1 : 1)) : nil
            let (facts, words) = Self.allFacts.randomElement(using: &random) ?? Self.allFacts[0]
            let hasExpired = policy.expiresAt.map { $0 < Self.now } ?? false
            let accepts =
                hasExpired
                ? words.isSuperset(of: ["sys", "host"])
                : StatedTable.words(
                    policy.mode.rawValue, !policy.pins.isEmpty, policy.allowsInvalidCertificates,
                    policy.validatesDomainName)?.isSubset(of: words) ?? false
            switch TrustDecision.judge(AppliedPolicy(policy, at: Self.now), facts) {
            case .accepted: #expect(accepts || policy.isReportOnly && hasExpired)
            case .reported: #expect(!accepts && policy.isReportOnly && !hasExpired)
            case .refused: #expect(!accepts && !policy.isReportOnly)
            }
        }
    }

    /// RFC 7469 §2.1.2 (report-only pins) for every policy: what is only reported changes nothing.
    @Test(arguments: TrustPolicy.Mode.allCases, [false, true])
    func aReportOnlyPolicyNeverRefusesAndTellsWhatItWouldDecide(mode: TrustPolicy.Mode, hasPins: Bool) {
        for (invalid, name) in [(false, false), (false, true), (true, false), (true, true)] {
            var policy = Self.policy(mode, hasPins, invalid, name)
            policy.isReportOnly = true
            policy.minimumTLS = .tls13
            let applied = AppliedPolicy(policy, at: Self.now)
            let policies = AppliedPolicies(host: applied)
            #expect(policies.enforced == AppliedPolicies.ordinary.enforced && policies.reporting == [applied])
            #expect(policies.minimumTLS == .tls12 && !applied.isLax)
            for (facts, words) in Self.allFacts {
                var facts = facts
                facts.tls = .tls13
                let accepts =
                    StatedTable.words(mode.rawValue, hasPins, invalid, name)?.isSubset(of: words) ?? false
                let judgement = TrustDecision.judge(applied, facts)
                switch judgement {
                case .accepted: #expect(accepts)
                case .reported: #expect(!accepts)
                case .refused: Issue.record("\(policy) refuses")
                }
                let note = accepts ? "would accept the server if it were enforced" : "would refuse it, too"
                #expect(TrustDecision.note(of: applied, judgement)?.contains(note) == true)
                facts.tls = .tls12
                guard case .reported = TrustDecision.judge(applied, facts) else {
                    Issue.record("TLS 1.2 is not reported")
                    continue
                }
            }
        }
    }

    @Test func onlyPinsBeingWrongIsAPinMismatch() throws {
        var facts = TrustFacts()
        facts.systemChain = .valid
        facts.hostName = .matches
        func refusal(_ mode: TrustPolicy.Mode, _ invalid: Bool = false) -> TrustRefusal? {
            guard
                case .refused(let refusal) = TrustDecision.judge(
                    AppliedPolicy(Self.policy(mode, true, invalid, true), at: Self.now), facts)
            else { return nil }
            return refusal
        }
        #expect(refusal(.publicKey)?.reason == .pinMismatch)
        #expect(refusal(.publicKey)?.code == 0)
        #expect(refusal(.publicKey, true)?.reason == .pinMismatch)
        facts.pinnedChain = .invalid(ChainFault(code: 20, text: "no issuer", depth: 1, lacksAnchor: true))
        #expect(refusal(.certificate)?.reason == .pinMismatch)
        #expect(refusal(.certificate)?.code == 20)
        facts.pinnedChain = .invalid(ChainFault(code: 10, text: "expired", depth: 0, lacksAnchor: false))
        #expect(refusal(.certificate, true)?.reason == .trustRejected)
        facts.hostName = .mismatch(code: 62)
        #expect(refusal(.publicKey)?.reason == .trustRejected)
        #expect(refusal(.publicKey)?.problems.count == 2)
        #expect(refusal(.publicKey)?.code == 62)
        facts.systemChain = .invalid(ChainFault(code: 18, text: "self-signed", depth: 0, lacksAnchor: true))
        #expect(refusal(.publicKey)?.reason == .trustRejected)
        #expect(refusal(.publicKey)?.code == 18)
    }
}

extension KeyPin {
    /// Never equal to a digest of anything.
    fileprivate static var none: KeyPin {
        guard let pin = KeyPin(digest: Array(repeating: 0, count: 32)) else { preconditionFailure("32 bytes") }
        return pin
    }
}
