import NIOConcurrencyHelpers
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

    @Test(.enabled(if: NginxFixture.isInstalled), arguments: [false, true], ["localhost", "127.0.0.1", "[::1]"])
    func throughAPlainProxyTheOriginIsJudgedOverEveryVersionAndAddress(isSOCKS: Bool, host: String) async throws {
        var options = NginxFixture.Options()
        options.tls = (rig.authority.chain(for: leaf), leaf.privateKey)
        let nginx = try await NginxFixture(options)
        try nginx.publish(.tagged(1, length: 10_000), as: "f")
        var proxyOptions = TLSServer.Options()
        proxyOptions.isProxy = !isSOCKS
        proxyOptions.isSOCKS = isSOCKS
        let proxy = try TLSServer(proxyOptions)
        let key = SessionKey(proxy: "\(isSOCKS ? "socks5h" : "http")://127.0.0.1:\(proxy.port)")
        let (right, wrong) = (rig.settings(try .key(leaf)), rig.settings(try .key(rig.authority.issue())))
        func get(_ trust: TrustSettings, _ version: HTTPVersion) async throws -> Harness.Record {
            try await rig.harness.run(
                .get("https://\(host):\(nginx.httpsPort)/f") { attempt in
                    attempt.request.httpVersion = version
                    attempt.session = { _ in SessionSpec(key: key, trust: trust) }
                })
        }
        for (version, major) in [(HTTPVersion.automatic, 2), (.http1, 1)] {
            let record = try await get(right, version)
            #expect(record.outcome.result == .complete && record.outcome.head?.majorVersion == major)
            #expect(try await get(wrong, version).error?.reason == .pinMismatch)
        }
        try await eventually("nginx has logged them") { try nginx.log.count == 2 }
        // A lax connection through the proxy is none for a strict request through it.
        let connections = proxy.counts.connections
        #expect(try await get(rig.settings(.lax), .automatic).outcome.result == .complete)
        #expect(try await get(rig.settings(.lax), .automatic).outcome.result == .complete)
        #expect(proxy.counts.connections == connections + 1)
        #expect(try await get(wrong, .automatic).error?.reason == .pinMismatch)
        #expect(proxy.counts.connections == connections + 2)
    }

    /// The engine reports the origin's chain for every hop, over new and kept connections, and never the proxy's.
    @Test func theChainOfEveryHopIsReportedOverNewAndKeptConnections() async throws {
        let start = try rig.serve(leaf) { options in
            options.status = "302 Found"
            options.headers = "Location: \(origin.url())\r\n"
        }
        let proxy = try rig.serve(rig.authority.issue()) { $0.isProxy = true }
        let (caFile, policies) = (rig.caFile, try AppliedPolicies.key(leaf, version: 7))
        for key in [SessionKey(), SessionKey(proxy: "https://localhost:\(proxy.port)")] {
            for _ in 0..<2 {
                let told = NIOLockedValueBox<[SourceEvidence]>([])
                _ = try await rig.harness.run(
                    .get(start.url()) { attempt in
                        attempt.session = { _ in
                            SessionSpec(key: key, trust: TrustSettings(caFile: caFile, policies: policies))
                        }
                        attempt.onServer = { source in told.withLockedValue { $0.append(source) } }
                    })
                let sources = told.withLockedValue(\.self)
                #expect(sources.map(\.origin.port) == [UInt16(start.port), UInt16(origin.port)])
                #expect(sources.map(\.chain) == [[leaf.der], [leaf.der]])
                #expect(sources.map(\.judgement) == ["7", "7"] && sources.map(\.tls) == [.tls13, .tls13])
            }
        }
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

    @Test func anUntrustedSecureProxyIsRefused() async throws {
        let proxy = try rig.serve(TestCA.selfSigned()) { $0.isProxy = true }
        let address = "https://localhost:\(proxy.port)"
        #expect(try await rig.get(origin.url(), .lax, proxy: address).error?.reason == .trustRejected)
        #expect(proxy.counts.requests.isEmpty)
    }
}
