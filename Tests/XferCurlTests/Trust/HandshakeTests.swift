import Glibc
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// The hook in real handshakes over real sockets.
@Suite struct HandshakeTests {
    private let fixture: TrustFixture

    init() throws { fixture = try TrustFixture() }

    private func options(_ leaf: TestCertificate, _ authority: TestCA? = nil, and stuffed: String = "")
        -> TLSServer.Options
    {
        TLSServer.Options(
            chain: (authority ?? fixture.authority).chain(for: leaf) + stuffed, privateKey: leaf.privateKey)
    }

    @Test func aServerWithAValidChainIsAccepted() async throws {
        let via = try fixture.authority.intermediate()
        let leaf = try via.issue()
        let (report, server) = try await fixture.shake(options(leaf, via))
        #expect(report.verdict?.isAccepted == true)
        #expect(report.failure == nil && report.version == "TLSv1.3")
        #expect(report.chain.map(\.der) == [leaf.der, via.certificate.der])
        try await eventually("the server is through") { server.counts.handshakes == 1 }
    }

    /// Also one that has sent a part of its answer.
    @Test(arguments: [[], [0x16, 0x03]] as [[UInt8]]) func aServerThatDoesNotAnswerEndsTheHandshake(part: [UInt8])
        async throws
    {
        let evaluator = fixture.evaluator
        let report = try await offThread {
            var pair: [Int32] = [-1, -1]
            #expect(socketpair(AF_UNIX, CInt(clamping: SOCK_STREAM.rawValue), 0, &pair) == 0)
            defer { for socket in pair { close(socket) } }
            #expect(write(pair[1], part, part.count) == part.count)
            let target = TrustTarget(host: ServerName(host: "localhost"), port: 443, policies: .ordinary)
            return try ServerProbe.handshake(over: pair[0], with: target, evaluator: evaluator, timeout: 1)
        }
        #expect(report.failure == "no answer within 1 s" && report.verdict == nil)
    }

    @Test(arguments: ["wrongHost", "expired", "notYetValid", "clientOnly", "selfSigned", "unknown", "impostor"])
    func aServerWithADefectIsNot(defect: String) async throws {
        let leaf: TestCertificate
        var authority = fixture.authority
        switch defect {
        case "wrongHost": leaf = try authority.issue(.wrongHost)
        case "expired": leaf = try authority.issue(.expired)
        case "notYetValid": leaf = try authority.issue(.notYetValid)
        case "clientOnly": leaf = try authority.issue(.clientOnly)
        case "selfSigned": leaf = try TestCA.selfSigned()
        case "unknown":
            authority = try TestCA(name: "stranger")
            leaf = try authority.issue()
        default:
            // The authority's name and not its key.
            authority = try TestCA()
            leaf = try authority.issue()
        }
        let (report, server) = try await fixture.shake(options(leaf, authority))
        #expect(report.failure?.contains("certificate verify failed") == true)
        #expect(report.verdict?.failure?.reason == .trustRejected)
        #expect(report.verdict?.failure?.chain.map(\.key.description) == [leaf.keyPin])
        #expect(server.counts.handshakes == 0)
    }

    @Test func aSmallKeyIsRefusedByTheConnectionsSecurityLevel() async throws {
        var small = TestCA.Leaf()
        small.key = .rsa(bits: 1024)
        let leaf = try fixture.authority.issue(small)
        let (report, _) = try await fixture.shake(options(leaf))
        #expect(report.verdict?.isAccepted != true)
        // The evaluation itself sees it too, at the level a connection has by default.
        #expect(fixture.judge([try leaf.parsed], .builtInDefault).failure?.code == 66)
    }

    @Test func aPinnedCertificateInTheSentChainDoesNotSatisfyAPin() async throws {
        let pinned = try fixture.authority.issue()
        let attacker = try fixture.authority.issue()
        let stranger = try TestCA.selfSigned()
        let stuffing = pinned.certificate + fixture.authority.pem
        for (mode, invalid) in [
            (TrustPolicy.Mode.publicKey, false), (.certificate, false), (.publicKey, true), (.certificate, true),
        ] {
            let policies = fixture.policies(TrustPolicy(mode, [try pinned.asPin], invalid: invalid))
            for leaf in [attacker, stranger] {
                let shown = TLSServer.Options(chain: leaf.certificate + stuffing, privateKey: leaf.privateKey)
                let (report, _) = try await fixture.shake(shown, policies)
                #expect(report.chain.contains { $0.der == pinned.der })
                #expect(report.failure != nil && report.verdict?.isAccepted == false, "\(mode) \(invalid)")
            }
            let (honest, _) = try await fixture.shake(options(pinned), policies)
            #expect(honest.failure == nil, "\(mode) \(invalid)")
        }
    }

    @Test func aRenewedKeyPassesByItsBackupPin() async throws {
        let present = try fixture.authority.issue()
        let next = try fixture.authority.issue()
        let backup = fixture.policies(TrustPolicy(.publicKey, [try present.asKeyPin, try next.asKeyPin]))
        let alone = fixture.policies(TrustPolicy(.publicKey, [try present.asKeyPin]))
        #expect(try await fixture.shake(options(next), backup).report.failure == nil)
        let refused = try await fixture.shake(options(next), alone).report
        #expect(refused.verdict?.failure?.reason == .pinMismatch)
        #expect(refused.verdict?.failure?.chain.first?.key.description == next.keyPin)
        var renewed = TestCA.Leaf()
        renewed.privateKey = present.privateKey
        #expect(try await fixture.shake(options(try fixture.authority.issue(renewed)), alone).report.failure == nil)
    }

    @Test func aLeafThatAnAuthorityIssuedMayBeTheOnlyAnchor() async throws {
        let stranger = try TestCA(name: "stranger")
        let leaf = try stranger.issue()
        let policy = fixture.policies(TrustPolicy(.certificate, [try leaf.asPin], invalid: true))
        #expect(try await fixture.shake(options(leaf), policy).report.failure == nil)
        let wrong = try stranger.issue(.wrongHost)
        let wrongPolicy = fixture.policies(TrustPolicy(.certificate, [try wrong.asPin], invalid: true))
        #expect(try await fixture.shake(options(wrong), wrongPolicy).report.failure != nil)
        let expired = try stranger.issue(.expired)
        let expiredPolicy = fixture.policies(TrustPolicy(.certificate, [try expired.asPin], invalid: true))
        #expect(try await fixture.shake(options(expired), expiredPolicy).report.verdict?.failure?.code == 10)
    }

    @Test func anAddressIsJudgedAsAnAddress() async throws {
        let leaf = try fixture.authority.issue()
        #expect(try await fixture.shake(options(leaf), host: "127.0.0.1").report.failure == nil)
        #expect(try await fixture.shake(options(leaf), host: "[::1]").report.failure == nil)
        #expect(try await fixture.shake(options(leaf), host: "127.0.0.2").report.failure != nil)
    }

    @Test func oldProtocolVersionsAreRefused() async throws {
        let leaf = try fixture.authority.issue()
        var old = options(leaf)
        old.maxVersion = 0x0302
        #expect(try await fixture.shake(old).report.failure != nil)
        var older = options(leaf)
        older.maxVersion = 0x0303
        #expect(try await fixture.shake(older).report.version == "TLSv1.2")
        var policy = TrustPolicy.builtInDefault
        policy.minimumTLS = .tls13
        #expect(try await fixture.shake(older, fixture.policies(policy)).report.failure != nil)
        #expect(try await fixture.shake(options(leaf), fixture.policies(policy)).report.version == "TLSv1.3")
    }

    @Test func aClientCertificateIsSentToAServerThatRequestsOne() async throws {
        let clients = try TestCA(name: "clients")
        let via = try clients.intermediate()
        var leaf = TestCA.Leaf.clientOnly
        leaf.commonName = "xferd"
        let client = try via.issue(leaf)
        let directory = fixture.directory
        try FileTree.write(via.chain(for: client), to: directory.file("client.pem"))
        try FileTree.write(client.privateKey, to: directory.file("client.key"), mode: 0o600)
        let files = ClientCertificateFiles(
            certificate: directory.file("client.pem"), key: directory.file("client.key"))
        var options = options(try fixture.authority.issue())
        options.clientAuthority = clients.pem
        let (report, server) = try await fixture.shake(options, identity: try ClientIdentity(files))
        #expect(report.failure == nil)
        try await eventually("the server saw the client") { server.counts.clients == ["/CN=xferd"] }
    }

    @Test func aClientKeyMustBePrivateAndMatchItsCertificate() throws {
        let (one, other) = (try fixture.authority.issue(), try fixture.authority.issue())
        let directory = fixture.directory
        func load(_ key: String, mode: UInt32) throws -> ClientIdentityError? {
            FileTree.remove(directory.file("key"))
            try FileTree.write(one.certificate, to: directory.file("certificate"))
            try FileTree.write(key, to: directory.file("key"), mode: mode)
            let files = ClientCertificateFiles(certificate: directory.file("certificate"), key: directory.file("key"))
            do throws(ClientIdentityError) {
                _ = try ClientIdentity(files)
                return nil
            } catch {
                return error
            }
        }
        let path = directory.file("key")
        #expect(try load(one.privateKey, mode: 0o600) == nil)
        #expect(try load(one.privateKey, mode: 0o400) == nil)
        #expect(try load(one.privateKey, mode: 0o640) == .exposed(file: path, mode: 0o640))
        #expect(try load(one.privateKey, mode: 0o604) == .exposed(file: path, mode: 0o604))
        #expect(try load("no key", mode: 0o600) == .badKey(file: path))
        #expect(
            try load(other.privateKey, mode: 0o600)
                == .keyOfAnother(certificate: directory.file("certificate"), key: path))
        let missing = ClientCertificateFiles(certificate: directory.file("certificate"), key: directory.file("none"))
        #expect(throws: ClientIdentityError.unreadable(file: directory.file("none"), errno: 2)) {
            try ClientIdentity(missing)
        }
    }
}
