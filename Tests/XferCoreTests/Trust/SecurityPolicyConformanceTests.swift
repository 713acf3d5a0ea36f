import Testing
import XferCore
import XferModel
import XferTestSupport

/// AFNetworking's tests of AFSecurityPolicy: what a policy decides about a server, by what is true of its chain. The
/// names say the tests' section and case.
@Suite struct SecurityPolicyConformanceTests {
    struct Subject: Sendable {
        var mode = TrustPolicy.Mode.none
        var hasPins = false
        var allowsInvalid = false
        var checksName = true
        /// The chain leads to an authority that the machine trusts.
        var isTrusted = true
        var hasName = true
        /// Whether a pinned certificate, or one with a pinned key, is in the chain, and whether it is the leaf.
        var isPinnedInChain = false
        var isPinnedLeaf = false
        var isAccepted: Bool
    }

    static let cases: [ConformanceCase<Subject>] = [
        .same("AFSecurityPolicy default-valid", Subject(isAccepted: true)),
        .same("AFSecurityPolicy default-invalid", Subject(isTrusted: false, isAccepted: false)),
        .same("AFSecurityPolicy default-other-name", Subject(hasName: false, isAccepted: false)),
        .same(
            "AFSecurityPolicy key-leaf",
            Subject(mode: .publicKey, hasPins: true, isPinnedInChain: true, isPinnedLeaf: true, isAccepted: true)),
        .same(
            "AFSecurityPolicy key-intermediate-or-root",
            Subject(mode: .publicKey, hasPins: true, isPinnedInChain: true, isAccepted: true)),
        .same(
            "AFSecurityPolicy key-other-name",
            Subject(mode: .publicKey, hasPins: true, hasName: false, isPinnedInChain: true, isAccepted: false)),
        .same("AFSecurityPolicy key-not-pinned", Subject(mode: .publicKey, hasPins: true, isAccepted: false)),
        .same("AFSecurityPolicy key-no-pins", Subject(mode: .publicKey, isAccepted: false)),
        .same(
            "AFSecurityPolicy key-self-signed",
            Subject(
                mode: .publicKey, hasPins: true, isTrusted: false, isPinnedInChain: true, isPinnedLeaf: true,
                isAccepted: false)),
        .same(
            "AFSecurityPolicy key-self-signed-allowed",
            Subject(
                mode: .publicKey, hasPins: true, allowsInvalid: true, isTrusted: false, isPinnedInChain: true,
                isPinnedLeaf: true, isAccepted: true)),
        .differs(
            "AFSecurityPolicy key-invalid-chain-allowed",
            because: "of a chain that nothing vouches for only the leaf's key is proven by the handshake",
            Subject(
                mode: .publicKey, hasPins: true, allowsInvalid: true, isTrusted: false, isPinnedInChain: true,
                isAccepted: false)),
        .same(
            "AFSecurityPolicy certificate-leaf",
            Subject(mode: .certificate, hasPins: true, isPinnedInChain: true, isPinnedLeaf: true, isAccepted: true)),
        .same(
            "AFSecurityPolicy certificate-intermediate-or-root",
            Subject(mode: .certificate, hasPins: true, isPinnedInChain: true, isAccepted: true)),
        .same(
            "AFSecurityPolicy certificate-other-name",
            Subject(mode: .certificate, hasPins: true, hasName: false, isPinnedInChain: true, isAccepted: false)),
        .same("AFSecurityPolicy certificate-not-pinned", Subject(mode: .certificate, hasPins: true, isAccepted: false)),
        .same("AFSecurityPolicy certificate-no-pins", Subject(mode: .certificate, isAccepted: false)),
        .same(
            "AFSecurityPolicy certificate-self-signed-allowed",
            Subject(
                mode: .certificate, hasPins: true, allowsInvalid: true, isTrusted: false, isPinnedInChain: true,
                isPinnedLeaf: true, isAccepted: true)),
        .same(
            "AFSecurityPolicy name-unchecked", Subject(checksName: false, hasName: false, isAccepted: true)),
        .same(
            "AFSecurityPolicy name-checked-self-signed",
            Subject(
                mode: .certificate, hasPins: true, allowsInvalid: true, isTrusted: false, hasName: false,
                isPinnedInChain: true, isPinnedLeaf: true, isAccepted: false)),
        .same(
            "AFSecurityPolicy invalid-allowed-unchecked",
            Subject(allowsInvalid: true, checksName: false, isTrusted: false, hasName: false, isAccepted: true)),
        .same(
            "AFSecurityPolicy invalid-allowed-with-name",
            Subject(allowsInvalid: true, isTrusted: false, isAccepted: false)),
        .same(
            "AFSecurityPolicy invalid-allowed-key-no-pins",
            Subject(mode: .publicKey, allowsInvalid: true, isTrusted: false, isAccepted: false)),
        .same(
            "AFSecurityPolicy invalid-allowed-pins-without-mode",
            Subject(
                hasPins: true, allowsInvalid: true, isTrusted: false, isPinnedInChain: true, isPinnedLeaf: true,
                isAccepted: false)),
        .same(
            "AFSecurityPolicy invalid-not-allowed",
            Subject(checksName: false, isTrusted: false, isAccepted: false)),
    ]

    @Test(arguments: cases) func aPolicyDecidesAsTheSuiteExpects(test: ConformanceCase<Subject>) throws {
        let subject = test.subject
        let pin = Pin.key(try #require(KeyPin(digest: Array(repeating: 1, count: 32))))
        let policy = TrustPolicy(
            name: "p", mode: subject.mode, pins: subject.hasPins ? [pin] : [],
            allowsInvalidCertificates: subject.allowsInvalid, validatesDomainName: subject.checksName)
        let fault = TrustFacts.Chain.invalid(ChainFault(code: 20, text: "no issuer", depth: 0, lacksAnchor: true))
        var facts = TrustFacts()
        facts.systemChain = subject.isTrusted ? .valid : fault
        // A pinned certificate in the chain is an anchor of it.
        facts.pinnedChain = subject.isPinnedInChain ? .valid : fault
        facts.hostName = subject.hasName ? .matches : .mismatch(code: 62)
        facts.chainHasPinnedKey = subject.isPinnedInChain
        facts.chainHasPinnedCertificate = subject.isPinnedInChain
        facts.leafHasPinnedKey = subject.isPinnedLeaf
        let judgement = TrustDecision.judge(AppliedPolicy(policy, at: Timestamp(seconds: 0)), facts)
        #expect((judgement == .accepted) == subject.isAccepted, "\(judgement)")
    }
}
