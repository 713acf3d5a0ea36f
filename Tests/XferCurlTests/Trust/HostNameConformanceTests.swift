import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// AFNetworking's tests of AFSecurityPolicy with certificates that have the host's name in one place or another.
@Suite struct HostNameConformanceTests {
    struct Subject: Sendable {
        var commonName = "leaf"
        var names: [String] = []
        var isAccepted: Bool
    }

    static let cases: [ConformanceCase<Subject>] = [
        .differs(
            "AFSecurityPolicy name-common-name", because: "a common name is no name of a host (RFC 9110 §4.3.4)",
            Subject(commonName: "files.test", isAccepted: false)),
        .same("AFSecurityPolicy name-dns", Subject(names: ["files.test"], isAccepted: true)),
        .same("AFSecurityPolicy name-other-dns", Subject(names: ["else.test"], isAccepted: false)),
    ]

    @Test(arguments: cases) func aNameOfACertificateCountsAsTheTestSays(test: ConformanceCase<Subject>) throws {
        let fixture = try TrustFixture()
        var leaf = TestCA.Leaf()
        leaf.names = test.subject.names
        leaf.addresses = []
        leaf.commonName = test.subject.commonName
        let certificate = try fixture.authority.issue(leaf)
        let judgement = fixture.judge([try certificate.parsed], .builtInDefault, host: "files.test")
        #expect(judgement.isAccepted == test.subject.isAccepted)
    }
}
