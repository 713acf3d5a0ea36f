import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct HostNameTests {
    private let fixture: TrustFixture

    init() throws { fixture = try TrustFixture() }

    private func names(_ names: [String], _ addresses: [String], host: String, commonName: String = "leaf") throws
        -> Bool
    {
        var leaf = TestCA.Leaf()
        leaf.names = names
        leaf.addresses = addresses
        leaf.commonName = commonName
        let certificate = try fixture.authority.issue(leaf)
        return fixture.judge([try certificate.parsed], .builtInDefault, host: host).isAccepted
    }

    @Test(arguments: [
        (["example.org"], "example.org", true), (["EXAMPLE.org"], "example.org", true),
        (["example.org"], "example.org.", true), (["example.org"], "www.example.org", false),
        // A wildcard is one whole leftmost label.
        (["*.example.org"], "www.example.org", true), (["*.example.org"], "example.org", false),
        (["*.example.org"], "a.b.example.org", false), (["w*.example.org"], "www.example.org", false),
        (["*ww.example.org"], "www.example.org", false), (["www.*.org"], "www.example.org", false),
        (["*"], "localhost", false), (["*.org"], "example.org", false),
        // Internationalised names, in Punycode on both sides.
        (["xn--bcher-kva.example"], "xn--bcher-kva.example", true),
        (["*.xn--bcher-kva.example"], "www.xn--bcher-kva.example", true),
        (["*.example"], "xn--bcher-kva.example", false), (["bücher.example"], "xn--bcher-kva.example", false),
        (["other.test", "example.org"], "example.org", true),
    ])
    func aHostMatchesTheDNSNamesOfTheCertificate(names: [String], host: String, isNamed: Bool) throws {
        #expect(try self.names(names, [], host: host) == isNamed)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.2", "127.0.0.1", false), ("::1", "[::1]", true),
        ("2001:db8:0:0::1", "[2001:db8::1]", true), ("::2", "[::1]", false), ("fe80::1", "[fe80::1%25lo]", true),
    ])
    func anAddressMatchesTheIPNamesOfTheCertificate(address: String, host: String, isNamed: Bool) throws {
        #expect(try names(["example.org"], [address], host: host) == isNamed)
    }

    @Test func anAddressIsNotNamedByADNSName() throws {
        #expect(try !names(["127.0.0.1"], [], host: "127.0.0.1"))
    }

    @Test func theCommonNameIsIgnored() throws {
        #expect(try !names([], [], host: "example.org", commonName: "example.org"))
        #expect(try !names(["other.test"], [], host: "example.org", commonName: "example.org"))
    }

    @Test func namesAndAddressesOfACertificateAreListed() throws {
        var leaf = TestCA.Leaf()
        leaf.names = ["a.test", "*.b.test"]
        leaf.addresses = ["10.0.0.1", "::1"]
        let certificate = try fixture.authority.issue(leaf).parsed
        #expect(certificate.alternativeNames == ["a.test", "*.b.test", "10.0.0.1", "::1"])
    }
}
