import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Policies × chains against what is true of the chains by their making.
@Suite struct TrustEvaluationTests {
    private let fixture: TrustFixture
    private let corpus: ChainCorpus

    init() throws {
        fixture = try TrustFixture()
        corpus = try ChainCorpus(authority: fixture.authority)
    }

    /// What the specification says, in its own words and by the corpus' own knowledge; nothing of it is the product's.
    private func isTrusted(
        _ entry: ChainCorpus.Entry, _ policy: TrustPolicy, pinned: [TestCertificate]
    ) -> Bool {
        let names = !policy.validatesDomainName || entry.namesHost
        let keys = Set(pinned.map(\.keyPin))
        let vsys = entry.isValid && names
        let vpin = names && pinned.contains { entry.isValid(toAnchor: $0) }
        let k = entry.path.contains { keys.contains($0.keyPin) }
        switch policy.mode {
        case .none:
            if policy.allowsInvalidCertificates { return !policy.validatesDomainName }
            return vsys
        case .publicKey:
            if pinned.isEmpty { return false }
            return policy.allowsInvalidCertificates ? names && keys.contains(entry.leaf.keyPin) : vsys && k
        case .certificate:
            if pinned.isEmpty { return false }
            return policy.allowsInvalidCertificates ? vpin : vsys && vpin
        }
    }

    private func check(_ policy: TrustPolicy, pinned: [TestCertificate], pins: String, _ entry: ChainCorpus.Entry) {
        let verdict = fixture.judge(entry.sent, policy, host: corpus.host)
        let expected = isTrusted(entry, policy, pinned: pinned)
        #expect(
            verdict.isAccepted == expected,
            "\(entry.name): \(policy.mode) pins \(pins) I=\(policy.allowsInvalidCertificates) D=\(policy.validatesDomainName): \(verdict)"
        )
    }

    @Test func everyCellOfTheTrustTableIsDecidedForEveryChain() throws {
        for mode in TrustPolicy.Mode.allCases {
            for (invalid, name) in [(false, true), (false, false), (true, true), (true, false)] {
                for pins in [[], [0], [3], [0, 4]] {
                    let pinned = pins.map { corpus.certificates[$0].certificate }
                    let policy = TrustPolicy(mode, try pinned.map { try $0.asPin }, invalid: invalid, name: name)
                    for entry in corpus.entries { check(policy, pinned: pinned, pins: "\(pins)", entry) }
                }
            }
        }
    }

    @Test func everyCellOfTheTrustTableIsDecidedForEveryChainOverRealConnections() async throws {
        for entry in corpus.entries {
            let server = try TLSServer(
                TLSServer.Options(chain: entry.sent.map(\.pem).joined(), privateKey: entry.leaf.privateKey))
            var handshakes = 0
            for mode in TrustPolicy.Mode.allCases {
                for (invalid, name) in [(false, true), (false, false), (true, true), (true, false)] {
                    // No pin; the leaf's; the authority's; the leaf's and its renewed one as a backup.
                    for pins in [[], [0], [3], [0, 1]] {
                        let pinned = pins.map { corpus.certificates[$0].certificate }
                        let policy = TrustPolicy(mode, try pinned.map { try $0.asPin }, invalid: invalid, name: name)
                        let expected = isTrusted(entry, policy, pinned: pinned)
                        let report = try await fixture.shake(server, fixture.policies(policy), host: corpus.host)
                        #expect(
                            report.verdict?.isAccepted == expected && (report.failure == nil) == expected,
                            "\(entry.name): \(mode) pins \(pins) I=\(invalid) D=\(name): \(report)")
                        #expect(report.chain.map(\.der).first == entry.leaf.der)
                        handshakes += 1
                    }
                }
            }
            #expect(server.counts.connections == handshakes)
        }
    }

    @Test func tenThousandRandomPoliciesAndChainsFollowTheTrustTable() async throws {
        var random = SplitMix64(seed: 0x7275_7374)
        let asPins = try corpus.certificates.map {
            (certificate: try $0.certificate.asPin, key: try $0.certificate.asKeyPin)
        }
        for round in 0..<10_000 {
            if round.isMultiple(of: 100) { await Task.yield() }
            let mode = TrustPolicy.Mode.allCases.randomElement(using: &random) ?? .none
            let chosen = corpus.certificates.indices.filter { _ in random.chance(0.3) }
            let pins = chosen.map { index in
                mode == .publicKey && random.chance(0.5) ? asPins[index].key : asPins[index].certificate
            }
            let policy = TrustPolicy(mode, pins, invalid: random.chance(0.5), name: random.chance(0.5))
            let entry = corpus.entries[Int.random(in: corpus.entries.indices, using: &random)]
            check(
                policy, pinned: chosen.map { corpus.certificates[$0].certificate },
                pins: chosen.map { corpus.certificates[$0].name }.joined(separator: "+"), entry)
        }
    }

    @Test func hostPolicyAndTaskPolicyMustBothAccept() throws {
        let good = corpus.entries[0]
        let strict = TrustPolicy(.publicKey, [try corpus.certificates[5].certificate.asKeyPin])
        let lax = TrustPolicy(.none, [], invalid: true, name: false)
        func judge(_ host: TrustPolicy, _ task: TrustPolicy?, _ entry: ChainCorpus.Entry) -> TrustVerdict {
            let policies = fixture.policies(host, and: task)
            return fixture.evaluator.evaluate(
                entry.sent, for: TrustTarget(host: ServerName(host: "localhost"), port: 443, policies: policies))
        }
        #expect(judge(lax, nil, good).isAccepted)
        #expect(judge(lax, strict, good).failure?.reason == .pinMismatch)
        #expect(judge(strict, lax, good).failure?.reason == .pinMismatch)
        // A task's lax policy takes nothing away from the default.
        let unknown = try #require(corpus.entries.first { $0.name == "self-signed" })
        #expect(!judge(.builtInDefault, lax, unknown).isAccepted)
        #expect(judge(lax, nil, unknown).lax == ["test"])
    }

    @Test func aFailureNamesPolicyReasonAndPresentedPin() throws {
        let good = corpus.entries[0]
        let failure = try #require(
            fixture.judge(good.sent, TrustPolicy(.publicKey, [corpus.certificates[5].certificate.asKeyPin])).failure)
        #expect(failure.reason == .pinMismatch)
        #expect(failure.host == "localhost" && failure.port == 443)
        #expect(failure.policy == "test" && failure.policyVersion == 3)
        #expect(failure.chain.map(\.key.description) == good.path.dropLast().map(\.keyPin))
        #expect(failure.chain.first?.subject == "CN=leaf")
        let error = TransferError(failure)
        #expect(error.message.contains(good.leaf.keyPin) && error.message.contains("\"test\" version 3"))
        #expect(!error.isRetriable)
    }

    @Test(arguments: [
        ("wrong host", FailureReason.trustRejected, Int32(62)), ("expired", .trustRejected, 10),
        ("not yet valid", .trustRejected, 9), ("client only", .trustRejected, 26), ("self-signed", .trustRejected, 18),
        ("unknown authority", .trustRejected, 20),
    ])
    func theErrorOfOpenSSLIsKept(name: String, reason: FailureReason, code: Int32) throws {
        let entry = try #require(corpus.entries.first { $0.name == name })
        let failure = try #require(fixture.judge(entry.sent, .builtInDefault).failure)
        #expect(failure.reason == reason && failure.code == code)
    }

    @Test func aReportOnlyPolicyRefusesNothingThatTheOrdinaryCheckAccepts() throws {
        var policy = TrustPolicy(.publicKey, [try corpus.certificates[5].certificate.asKeyPin])
        policy.isReportOnly = true
        for entry in corpus.entries {
            let verdict = fixture.judge(entry.sent, policy)
            let isOrdinary = fixture.judge(entry.sent, .builtInDefault).isAccepted
            #expect(verdict.isAccepted == isOrdinary, "\(entry.name)")
            #expect(verdict.violations.map(\.reason) == (isOrdinary ? [.pinMismatch] : []), "\(entry.name)")
        }
    }

    @Test func aReportOnlyPolicyBesideAnEnforcedOneChangesNoDecision() throws {
        let strict = TrustPolicy(.publicKey, [try corpus.certificates[5].certificate.asKeyPin])
        let lax = TrustPolicy(.none, [], invalid: true, name: false)
        for (enforced, other) in [(strict, lax), (lax, strict)] {
            var trial = other
            trial.name = "trial"
            trial.isReportOnly = true
            let policies = AppliedPolicies(
                host: AppliedPolicy(enforced, at: TrustFixture.now),
                reporting: [AppliedPolicy(trial, at: TrustFixture.now)])
            for entry in corpus.entries {
                let verdict = fixture.evaluator.evaluate(
                    entry.sent, for: TrustTarget(host: ServerName(host: "localhost"), port: 443, policies: policies))
                let alone = fixture.judge(entry.sent, enforced)
                #expect(verdict.isAccepted == alone.isAccepted && verdict.lax == alone.lax, "\(entry.name)")
                if let failure = alone.failure, !entry.sent.isEmpty {
                    #expect(verdict.failure?.problem.hasPrefix(failure.problem) == true, "\(entry.name)")
                    #expect(verdict.failure?.problem.contains("\"trial\" would accept") == true, "\(entry.name)")
                }
                #expect(verdict.violations.count == (alone.isAccepted ? 1 : 0), "\(entry.name)")
            }
        }
    }

    @Test func anExpiredPolicyIsTheOrdinaryCheckAndSaysSo() throws {
        for policy in [
            TrustPolicy(.publicKey, [try corpus.certificates[5].certificate.asKeyPin]),
            TrustPolicy(.none, [], invalid: true, name: false),
        ] {
            var policy = policy
            policy.expiresAt = TrustFixture.now.advanced(by: .seconds(-1))
            for entry in corpus.entries {
                let verdict = fixture.judge(entry.sent, policy)
                #expect(verdict.isAccepted == fixture.judge(entry.sent, .builtInDefault).isAccepted, "\(entry.name)")
                #expect(verdict.expired == ["test"] && verdict.lax.isEmpty)
            }
        }
    }

    @Test func aServerWithoutCertificatesIsRefused() {
        #expect(!fixture.judge([], TrustPolicy(.none, [], invalid: true, name: false)).isAccepted)
    }
}
