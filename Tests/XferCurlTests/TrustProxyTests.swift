import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// The policy judges the origin, whatever lies between; an `https` proxy has its own.
@Suite struct TrustProxyTests {
    private let rig: TrustRig
    private let leaf: TestCertificate
    private let origin: TLSServer

    init() throws {
        rig = try TrustRig()
        leaf = try rig.authority.issue()
        origin = try rig.serve(leaf)
    }

    @Test(arguments: [false, true])
    func throughAPlainProxyTheOriginIsJudged(isSOCKS: Bool) async throws {
        var options = TLSServer.Options()
        options.isProxy = !isSOCKS
        options.isSOCKS = isSOCKS
        let proxy = try TLSServer(options)
        let address = "\(isSOCKS ? "socks5h" : "http")://127.0.0.1:\(proxy.port)"
        #expect(try await rig.get(origin.url(), .key(leaf), proxy: address).text == "hello\n")
        let other = try rig.authority.issue()
        #expect(try await rig.get(origin.url(), .key(other), proxy: address).error?.reason == .pinMismatch)
        #expect(proxy.counts.connections == 2 && origin.counts.requests.count == 1)
    }

    @Test func aSecureProxyIsHeldToItsOwnPolicy() async throws {
        let proxyLeaf = try rig.authority.issue()
        let proxy = try rig.serve(proxyLeaf) { $0.isProxy = true }
        let address = "https://localhost:\(proxy.port)"
        func get(origin policies: AppliedPolicies, proxy proxyPolicies: AppliedPolicies) async throws -> Harness.Record
        {
            try await rig.get(origin.url(), policies, proxy: address, proxyPolicies: proxyPolicies)
        }
        #expect(try await get(origin: .ordinary, proxy: .ordinary).text == "hello\n")
        #expect(try await get(origin: .key(leaf), proxy: .key(proxyLeaf)).text == "hello\n")
        let asked = proxy.counts.requests.count
        // Each one's pin is no good for the other.
        let badProxy = try await get(origin: .key(leaf), proxy: .key(leaf))
        #expect(badProxy.error?.reason == .pinMismatch)
        #expect(badProxy.error?.message.contains("localhost:\(proxy.port)") == true)
        #expect(proxy.counts.requests.count == asked)
        let badOrigin = try await get(origin: .key(proxyLeaf), proxy: .key(proxyLeaf))
        #expect(badOrigin.error?.reason == .pinMismatch)
        #expect(badOrigin.error?.message.contains("localhost:\(origin.port)") == true)
        #expect(origin.counts.requests.count == 2)
    }

    @Test func aSecureProxyThatNobodyKnowsIsRefused() async throws {
        let proxy = try rig.serve(TestCA.selfSigned()) { $0.isProxy = true }
        let address = "https://localhost:\(proxy.port)"
        #expect(try await rig.get(origin.url(), .lax, proxy: address).error?.reason == .trustRejected)
        #expect(proxy.counts.requests.isEmpty)
    }
}
