import COpenSSL
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Policies that require a stapled OCSP response, in real handshakes.
@Suite struct StapleTests {
    private let fixture: TrustFixture
    private let leaf: TestCertificate

    init() throws {
        fixture = try TrustFixture()
        leaf = try fixture.authority.issue()
    }

    private func options(
        _ staple: [UInt8]?, version: Int32, leaf: TestCertificate? = nil
    ) -> TLSServer.Options {
        let leaf = leaf ?? self.leaf

        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.maxVersion = version
        options.staple = staple
        return options
    }

    private static func policy(isReportOnly: Bool = false) -> TrustPolicy {
        TrustPolicy(name: "test", version: 3, isReportOnly: isReportOnly, requiresStapledOCSP: true)
    }

    private static let versions = [TLS1_2_VERSION, TLS1_3_VERSION]

    @Test(arguments: versions) func aGoodStapledResponseIsAccepted(version: Int32) async throws {
        for until: Duration? in [.seconds(3600), nil] {
            let staple = try fixture.authority.ocspResponse(for: leaf, until: until)
            let (report, _) = try await fixture.shake(
                options(staple, version: version), fixture.policies(Self.policy()))
            #expect(report.failure == nil && report.verdict?.isAccepted == true)
            #expect(report.stapledStatus?.isGood == true)
        }
    }

    /// RFC 6960 §4.2.2.2 lets the issuer sign, and §4.2.1 leaves out certificates; servers do not send an anchor (RFC 8446
    /// §4.4.2).
    @Test(arguments: versions) func theIssuersResponseIsAcceptedThoughNeitherServerNorResponseHasItsCertificate(
        version: Int32
    ) async throws {
        let staple = try fixture.authority.ocspResponse(for: leaf, enclosesSigner: false)
        let (report, _) = try await fixture.shake(options(staple, version: version), fixture.policies(Self.policy()))
        #expect(report.verdict?.isAccepted == true && report.stapledStatus?.isGood == true, "\(report)")

        let intermediate = try TestCA().intermediate()
        let anchored = try TrustFixture(authority: intermediate)
        let below = try intermediate.issue()
        let its = options(
            try intermediate.ocspResponse(for: below, enclosesSigner: false), version: version, leaf: below)
        let (other, _) = try await anchored.shake(its, anchored.policies(Self.policy()))
        #expect(other.verdict?.isAccepted == true && other.stapledStatus?.isGood == true, "\(other)")
    }

    @Test(arguments: versions) func aResponseOfADelegatedSignerIsAccepted(version: Int32) async throws {
        var delegate = TestCA.Leaf()
        delegate.commonName = "signer"
        delegate.usage = "OCSPSigning"
        let signer = try fixture.authority.issue(delegate)
        let staple = try fixture.authority.ocspResponse(for: leaf, signer: signer)
        let (report, _) = try await fixture.shake(options(staple, version: version), fixture.policies(Self.policy()))
        #expect(report.verdict?.isAccepted == true, "\(report)")
    }

    @Test(arguments: versions) func aHandshakeWithoutAGoodStapledResponseIsRefused(version: Int32) async throws {
        let authority = fixture.authority
        let staples: [(String, [UInt8]?)] = [
            ("none", nil), ("garbage", [1, 2, 3]), ("empty", []),
            ("revoked", try authority.ocspResponse(for: leaf, .revoked)),
            ("unknown", try authority.ocspResponse(for: leaf, .unknown)),
            ("over", try authority.ocspResponse(for: leaf, from: .seconds(-7200), until: .seconds(-3600))),
            ("not yet", try authority.ocspResponse(for: leaf, from: .seconds(3600), until: .seconds(7200))),
            ("old", try authority.ocspResponse(for: leaf, from: .seconds(-8 * 86_400), until: nil)),
            ("another certificate", try authority.ocspResponse(for: try authority.issue())),
            ("another authority", try TestCA().ocspResponse(for: leaf)),
            ("no signer", try authority.ocspResponse(for: leaf, signer: leaf)),
            ("no signer, not enclosed", try authority.ocspResponse(for: leaf, signer: leaf, enclosesSigner: false)),
            ("another authority of that name", try TestCA().ocspResponse(for: leaf, enclosesSigner: false)),
        ]
        for (name, staple) in staples {
            let (report, server) = try await fixture.shake(
                options(staple, version: version), fixture.policies(Self.policy()))
            #expect(report.failure != nil, "\(name)")
            #expect(report.verdict?.failure?.reason == .revocationUnknown, "\(name)")
            #expect(server.counts.requests.isEmpty)
            // Without a policy that asks for it nothing is refused.
            let (lax, _) = try await fixture.shake(options(staple, version: version))
            #expect(lax.failure == nil && lax.verdict?.isAccepted == true, "\(name)")
            // A policy that only reports, reports.
            let (told, _) = try await fixture.shake(
                options(staple, version: version), fixture.policies(Self.policy(isReportOnly: true)))
            #expect(told.failure == nil && told.verdict?.violations.map(\.reason) == [.revocationUnknown], "\(name)")
        }
    }

    @Test func aRefusedChainIsNotMendedByAGoodResponse() async throws {
        let stranger = try TestCA(name: "stranger")
        let other = try stranger.issue()
        var options = TLSServer.Options(chain: other.certificate, privateKey: other.privateKey)
        options.staple = try stranger.ocspResponse(for: other)
        let (report, _) = try await fixture.shake(options, fixture.policies(Self.policy()))
        #expect(report.verdict?.failure?.reason == .trustRejected)
    }

    @Test func aPolicyThatAcceptsAnyChainCannotRequireAResponse() throws {
        var policy = Self.policy()
        policy.hosts = [try HostPattern("host.test")]
        policy.allowsInvalidCertificates = true
        policy.validatesDomainName = false
        let error = #expect(throws: TrustPolicyError.self) { try TrustPolicyRules.check(policy, at: nil) }
        #expect(error?.field == "require_stapled_ocsp")
    }
}
