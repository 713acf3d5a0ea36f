import NIOConcurrencyHelpers
import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// Policies on real TLS connections through libcurl.
@Suite struct TrustTests {
    private let rig: TrustRig

    init() throws { rig = try TrustRig() }

    @Test func withoutPoliciesTheOrdinaryCheckApplies() async throws {
        let good = try rig.serve()
        let record = try await rig.get(good.url())
        #expect(record.text == "hello\n")
        #expect(record.trustVerdicts.isEmpty)
        for leaf in [
            try rig.authority.issue(.wrongHost), try TestCA.selfSigned(), try rig.authority.issue(.clientOnly),
        ] {
            let server = try rig.serve(leaf)
            let refused = try await rig.get(server.url())
            #expect(refused.error?.reason == .trustRejected && refused.error?.curlCode == 60)
            #expect(refused.trustVerdicts.map(\.isAccepted) == [false])
            #expect(server.counts.requests.isEmpty)
        }
    }

    @Test func theKeyHasToBeInTheChain() async throws {
        let leaf = try rig.authority.issue()
        let server = try rig.serve(leaf)
        for pinned in [leaf, rig.authority.certificate] {
            #expect(try await rig.get(server.url(), .key(pinned)).text == "hello\n")
        }
        let other = try rig.authority.issue()
        let refused = try await rig.get(server.url(), .key(other, version: 7))
        let error = try #require(refused.error)
        #expect(error.reason == .pinMismatch && !error.isRetriable && error.curlCode == 60)
        #expect(error.host == "localhost:\(server.port)")
        for word in ["\"strict\" version 7", leaf.keyPin, "localhost:\(server.port)"] {
            #expect(error.message.contains(word))
        }
        #expect(refused.trustVerdicts.first?.failure?.chain.map(\.key.description) == [leaf.keyPin])
        #expect(server.counts.requests.count == 2)
    }

    @Test func aWrongHostNamePassesIfThePolicyAllowsIt() async throws {
        let server = try rig.serve(rig.authority.issue(.wrongHost))
        let nameless = TrustPolicy(name: "p", version: 1, validatesDomainName: false)
        #expect(try await rig.get(server.url(), AppliedPolicies(nameless)).text == "hello\n")
        #expect(try await rig.get(server.url()).error?.reason == .trustRejected)
    }

    @Test func aPinnedCertificateInTheSentChainDoesNotSatisfyAPin() async throws {
        let pinned = try rig.authority.issue()
        let attacker = try rig.authority.issue()
        let server = try rig.serve(attacker) { $0.chain += pinned.certificate }
        #expect(try await rig.get(server.url(), .key(pinned)).error?.reason == .pinMismatch)
        #expect(server.counts.requests.isEmpty)
    }

    /// The strict one comes within the keep-alive time of the lax one's connection.
    @Test func aStrictRequestNeverReusesALaxConnection() async throws {
        let server = try rig.serve(TestCA.selfSigned())
        for round in 1...3 {
            let lax = try await rig.get(server.url(), .lax)
            #expect(lax.text == "hello\n")
            #expect(lax.trustVerdicts.first?.lax == (round == 1 ? ["lax"] : nil))
            #expect(try await rig.get(server.url(), .key(rig.authority.certificate)).error != nil)
            #expect(try await rig.get(server.url()).error?.reason == .trustRejected)
        }
        // One of the lax ones, kept, and each strict one's own, refused.
        #expect(server.counts.connections == 1 + 6)
        #expect(server.counts.requests.count == 3)
    }

    @Test func manyMixedLaxAndStrictRequestsStaySeparate() async throws {
        let server = try rig.serve(TestCA.selfSigned())
        let rig = rig
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask {
                    let record = try await rig.get(server.url("/\(index)"), index % 2 == 0 ? .lax : .ordinary)
                    #expect((record.text != nil) == (index % 2 == 0))
                }
            }
            try await group.waitForAll()
        }
        let asked = server.counts.requests.compactMap { line in
            line.split(separator: " ").dropFirst().first.flatMap { Int($0.dropFirst()) }
        }
        #expect(asked.count == 30 && asked.allSatisfy { $0 % 2 == 0 })
    }

    @Test func anEqualPolicySharesTheConnectionAndAnotherVersionDoesNot() async throws {
        let leaf = try rig.authority.issue()
        let server = try rig.serve(leaf)
        for version in [1, 1, 2, 2, 1] as [Int64] {
            #expect(try await rig.get(server.url(), .key(leaf, version: version)).text != nil)
        }
        #expect(server.counts.connections == 2)
    }

    @Test func tlsSessionsAreNotResumed() async throws {
        let leaf = try rig.authority.issue()
        let server = try rig.serve(leaf) { options in
            options.offersResumption = true
            options.headers = "Connection: close\r\n"
        }
        for policies in [
            AppliedPolicies.lax, try .key(leaf), .lax, try .key(leaf), try .key(rig.authority.issue()), .ordinary,
        ] {
            _ = try await rig.get(server.url(), policies)
        }
        #expect(server.counts.handshakes == 5)
        #expect(server.counts.resumptions == 0)
        #expect(server.counts.requests.count == 5)
    }

    @Test func aPolicyThatChangesDuringTheConnectStopsTheHop() async throws {
        let leaf = try rig.authority.issue()
        let server = try rig.serve(leaf)
        let calls = NIOLockedValueBox(0)
        let (old, new) = (rig.settings(.lax), rig.settings(try .key(rig.authority.issue())))
        let record = try await rig.get(server.url()) { _ in
            let call = calls.withLockedValue { calls in
                calls += 1
                return calls
            }
            return SessionSpec(trust: call == 1 ? old : new)
        }
        #expect(record.error?.reason == .trustRejected && record.error?.isRetriable == true)
        #expect(server.counts.requests.isEmpty)
    }

    /// A kept connection has no handshake, so the engine decides once more before the request goes out.
    @Test func aPolicyThatChangesBeforeAKeptConnectionIsUsedStopsTheHop() async throws {
        let leaf = try rig.authority.issue()
        let server = try rig.serve(leaf)
        #expect(try await rig.get(server.url(), .lax).text == "hello\n")
        let calls = NIOLockedValueBox(0)
        let (old, new) = (rig.settings(.lax), rig.settings(try .key(rig.authority.issue())))
        let record = try await rig.get(server.url()) { _ in
            let call = calls.withLockedValue { calls in
                calls += 1
                return calls
            }
            return SessionSpec(trust: call == 1 ? old : new)
        }
        #expect(record.error?.reason == .trustRejected && record.error?.isRetriable == true)
        #expect(server.counts.connections == 1 && server.counts.requests.count == 1)
    }

    @Test func everyHopOfARedirectIsHeldToItsOwnPolicy() async throws {
        let leaf = try rig.authority.issue()
        let free = try rig.serve()
        let pinned = try rig.serve(leaf)
        func resolver(_ pin: TestCertificate) throws -> PolicyResolver {
            let policy = TrustPolicy(
                name: "pinned", version: 1, mode: .publicKey, pins: [.key(try KeyPin(pin.keyPin))],
                hosts: [try HostPattern("localhost:\(pinned.port)")])
            return try PolicyResolver([policy])
        }
        func redirecting(to target: TLSServer, _ leaf: TestCertificate? = nil) throws -> TLSServer {
            try rig.serve(leaf) { options in
                options.status = "302 Found"
                options.headers = "Location: \(target.url())\r\n"
            }
        }
        let other = try rig.authority.issue()
        // To a pinned host.
        let start = try redirecting(to: pinned)
        #expect(try await rig.get(start.url(), resolver(leaf)).text == "hello\n")
        #expect(try await rig.get(start.url(), resolver(other)).error?.reason == .pinMismatch)
        // From a pinned host to one that is not.
        let from = try redirecting(to: free, leaf)
        var own = TrustPolicy(
            name: "start", version: 1, mode: .publicKey, pins: [.key(try KeyPin(leaf.keyPin))],
            hosts: [try HostPattern("localhost:\(from.port)")])
        #expect(try await rig.get(from.url(), PolicyResolver([own])).text == "hello\n")
        own.pins = [.key(try KeyPin(other.keyPin))]
        #expect(try await rig.get(from.url(), PolicyResolver([own])).error?.reason == .pinMismatch)
    }

    @Test func aRedirectToPlainHTTPOfAPinnedHostIsRefused() async throws {
        let plain = try await FaultServer()
        plain.serve("/file", .tagged(1, length: 100))
        let start = try rig.serve(nil) { options in
            options.status = "302 Found"
            options.headers = "Location: \(plain.url("/file"))\r\n"
        }
        let pin = Pin.key(try KeyPin(rig.authority.certificate.keyPin))
        let policy = TrustPolicy(
            name: "pinned", version: 1, mode: .publicKey, pins: [pin], hosts: [try HostPattern("127.0.0.1")])
        let (resolver, caFile) = (try PolicyResolver([policy]), rig.caFile)
        let record = try await rig.harness.run(
            .get(start.url()) { attempt in
                attempt.request.allowsDowngrade = true
                attempt.session = { url throws(TransferError) in
                    do throws(PolicyResolutionError) {
                        let policies = try resolver.resolve(url.origin, at: Timestamp(seconds: 0))
                        return SessionSpec(trust: TrustSettings(caFile: caFile, policies: policies))
                    } catch {
                        throw TransferError(error, host: url.hostKey)
                    }
                }
            })
        #expect(record.error?.reason == .trustRejected)
        #expect(plain.requests.isEmpty)
    }

    @Test func aReportOnlyPolicyReportsAViolationAndAccepts() async throws {
        let server = try rig.serve()
        var policy = TrustPolicy(
            name: "trial", version: 4, mode: .publicKey, pins: [.key(try KeyPin(rig.authority.issue().keyPin))])
        policy.isReportOnly = true
        let record = try await rig.get(server.url(), AppliedPolicies(policy))
        #expect(record.text == "hello\n")
        #expect(record.trustVerdicts.flatMap(\.violations).map(\.policyVersion) == [4])
        let stranger = try rig.serve(TestCA.selfSigned())
        #expect(try await rig.get(stranger.url(), AppliedPolicies(policy)).error?.reason == .trustRejected)
    }

    @Test func aReportOnlyPolicyThatWouldAcceptAStrangerDoesNot() async throws {
        let own = try TestCA.selfSigned()
        let stranger = try rig.serve(own)
        var pinned = TrustPolicy(
            name: "trial", version: 4, mode: .publicKey, pins: [.key(try KeyPin(own.keyPin))],
            allowsInvalidCertificates: true)
        pinned.isReportOnly = true
        var nameless = TrustPolicy(name: "trial", version: 5, validatesDomainName: false)
        nameless.isReportOnly = true
        let other = try rig.serve(rig.authority.issue(.wrongHost))
        for (policy, server, cause) in [
            (pinned, stranger, FailureCause.selfSigned), (nameless, other, .wrongHostName),
        ] {
            let record = try await rig.get(server.url(), AppliedPolicies(policy))
            #expect(record.error?.reason == .trustRejected && record.error?.cause == cause, "\(record.outcome)")
            #expect(record.error?.message.contains("\"trial\" would accept the server") == true)
            #expect(server.counts.requests.isEmpty)
        }
    }

    @Test func aRemovedAuthorityIsNotTrustedOnKeptConnections() async throws {
        let server = try rig.serve()
        #expect(try await rig.get(server.url()).text == "hello\n")
        #expect(try await rig.get(server.url()).text == "hello\n")
        #expect(server.counts.connections == 1)
        try FileTree.write(TestCA().pem, to: rig.caFile)
        #expect(try await rig.get(server.url()).error?.reason == .trustRejected)
        #expect(server.counts.requests.count == 2)
    }

    @Test func anIPv6AddressIsJudgedAsAnAddress() async throws {
        let leaf = try rig.authority.issue()
        let server = try rig.serve(leaf) { $0.address = "::1" }
        #expect(try await rig.get("https://[::1]:\(server.port)/", .key(leaf)).text == "hello\n")
        var nameOnly = TestCA.Leaf()
        nameOnly.addresses = []
        let unnamed = try rig.serve(rig.authority.issue(nameOnly)) { $0.address = "::1" }
        #expect(try await rig.get("https://[::1]:\(unnamed.port)/").error?.reason == .trustRejected)
    }

    @Test func theMinimumTLSVersionIsThePolicys() async throws {
        let old = try rig.serve(nil) { $0.maxVersion = 0x0303 }
        #expect(try await rig.get(old.url()).text == "hello\n")
        var policy = TrustPolicy.builtInDefault
        policy.minimumTLS = .tls13
        #expect(try await rig.get(old.url(), AppliedPolicies(policy)).error != nil)
    }

    @Test func theClientCertificateIsThePolicys() async throws {
        let clients = try TestCA(name: "clients")
        var leaf = TestCA.Leaf.clientOnly
        leaf.commonName = "xferd"
        let client = try clients.issue(leaf)
        let files = ClientCertificateFiles(
            certificate: rig.directory.file("client.pem"), key: rig.directory.file("client.key"))
        try FileTree.write(client.certificate, to: files.certificate)
        try FileTree.write(client.privateKey, to: files.key, mode: 0o600)
        let server = try rig.serve(nil) { $0.clientAuthority = clients.pem }
        var policy = TrustPolicy.builtInDefault
        policy.clientCertificate = files
        #expect(try await rig.get(server.url(), AppliedPolicies(policy)).text == "hello\n")
        #expect(server.counts.clients == ["/CN=xferd"])
        try FileTree.write(client.privateKey, to: files.key + "2", mode: 0o644)
        policy.clientCertificate?.key += "2"
        policy.version = 2
        let exposed = try await rig.get(server.url(), AppliedPolicies(policy))
        #expect(exposed.error?.message.contains("readable by its owner only") == true)
    }

    @Test(.enabled(if: NginxFixture.isInstalled)) func oneJudgedConnectionCarriesManyHTTP2Requests() async throws {
        let leaf = try rig.authority.issue()
        var options = NginxFixture.Options()
        options.tls = (rig.authority.chain(for: leaf), leaf.privateKey)
        let nginx = try await NginxFixture(options)
        try nginx.publish(.tagged(1, length: 10_000), as: "file")
        let rig = rig
        let (right, wrong) = (try AppliedPolicies.key(leaf), try AppliedPolicies.key(rig.authority.issue()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let isRight = index % 2 == 0
                    let record = try await rig.get(nginx.secureURL("/file?\(index)"), isRight ? right : wrong)
                    #expect((record.outcome.result == .complete) == isRight)
                    #expect(record.outcome.head?.majorVersion == (isRight ? 2 : nil))
                    if !isRight { #expect(record.error?.reason == .pinMismatch) }
                }
            }
            try await group.waitForAll()
        }
        try await eventually("nginx has logged them") { try nginx.log.count == 20 }
        #expect(Set(try nginx.log.map(\.connection)).count == 1)
    }
}
