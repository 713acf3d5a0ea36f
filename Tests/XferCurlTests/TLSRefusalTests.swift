import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// Handshakes that fail for a reason that lasts end the attempt for good, with their cause.
@Suite struct TLSRefusalTests {
    // TLS1_2_VERSION and TLS1_3_VERSION (openssl/prov_ssl.h).
    private static let tls12: Int32 = 0x0303
    private static let tls13: Int32 = 0x0304

    private let rig: TrustRig

    init() throws { rig = try TrustRig() }

    private func failure(_ server: TLSServer, _ policies: AppliedPolicies = .ordinary) async throws -> TransferError? {
        let error = try await rig.get(server.url(), policies).error
        #expect(server.counts.requests.isEmpty)
        return error
    }

    /// The failure of the first attempt that read the server's alert: a server that closes at once may reset the connection
    /// before.
    private func alert(_ attempt: () async throws -> TransferError?) async throws -> TransferError? {
        for _ in 0..<50 {
            let error = try await attempt()
            if error?.reason != .connectionLost { return error }
        }
        return nil
    }

    @Test func aServerWithoutACommonVersionIsNotAskedAgain() async throws {
        let server = try rig.serve { $0.maxVersion = Self.tls12 }
        let policy = TrustPolicy(name: "modern", version: 2, minimumTLS: .tls13)
        let error = try await failure(server, AppliedPolicies(policy))
        #expect(error?.reason == .connectFailed && error?.cause == .tlsVersion && error?.isRetriable == false)
        #expect(error?.message.contains("1.3 and later") == true, "\(error?.message ?? "")")
    }

    @Test func aDemandForAClientCertificateIsNotRepeated() async throws {
        for version in [Self.tls12, Self.tls13] {
            let server = try rig.serve { options in
                options.clientAuthority = rig.authority.pem
                options.requiresClient = true
                options.maxVersion = version
            }
            let error = try await alert { try await failure(server) }
            #expect(
                error?.cause == .clientCertificateRequired && error?.isRetriable == false,
                "\(String(describing: error))")
            #expect(error?.reason == .connectFailed)
        }
    }

    @Test func aRefusedClientCertificateIsNotShownAgain() async throws {
        let stranger = try TestCA().issue(.clientOnly)
        try FileTree.write(stranger.certificate, to: rig.directory.file("c.pem"))
        try FileTree.write(stranger.privateKey, to: rig.directory.file("c.key"), mode: 0o600)
        let files = ClientCertificateFiles(
            certificate: rig.directory.file("c.pem"), key: rig.directory.file("c.key"))
        let server = try rig.serve { options in
            options.clientAuthority = rig.authority.pem
            options.requiresClient = true
        }
        let trust = rig.settings(.ordinary)
        let error = try await alert {
            try await rig.get(server.url()) { _ in
                SessionSpec(key: SessionKey(clientCertificate: files), trust: trust)
            }.error
        }
        #expect(
            error?.cause == .clientCertificateRefused && error?.isRetriable == false, "\(String(describing: error))")
    }

    @Test func httpsToAPortWithoutTLSSaysSo() async throws {
        let server = try RawServer { connection in
            _ = connection.read(5)
            connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let error = try await rig.get("https://localhost:\(server.port)/").error
        #expect(
            error?.cause == .notTLS && error?.isRetriable == false && error?.reason == .connectFailed,
            "\(String(describing: error))")
    }

    @Test(.enabled(if: NginxFixture.isInstalled)) func httpToAPortWithTLSSaysSo() async throws {
        var options = NginxFixture.Options()
        let leaf = try rig.authority.issue()
        options.tls = (rig.authority.chain(for: leaf), leaf.privateKey)
        let nginx = try await NginxFixture(options)
        let error = try await rig.get("http://localhost:\(nginx.httpsPort)/f").error
        #expect(error?.reason == .httpStatus && error?.httpStatus == 400 && error?.cause == .tlsExpected)
        #expect(error?.message.contains("expects TLS") == true)
    }

    @Test func anUntrustedCertificateHasItsCause() async throws {
        let own = try rig.serve(TestCA.selfSigned())
        #expect(try await failure(own)?.cause == .selfSigned)
        let stranger = try TestCA()
        let leaf = try stranger.issue()
        let other = try TLSServer(TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey))
        #expect(try await failure(other)?.cause == .unknownAuthority)
        let wrongName = try await failure(rig.serve(rig.authority.issue(.wrongHost)))
        #expect(wrongName?.cause == .wrongHostName && wrongName?.furtherCauses == nil)
    }

    /// To pin its key is not enough.
    @Test func aSelfSignedCertificateForAnotherHostHasBothCausesAndItsPin() async throws {
        let certificate = try TestCA.selfSigned(.wrongHost)
        let refused = try await failure(rig.serve(certificate))
        #expect(refused?.cause == .selfSigned && refused?.furtherCauses == [.wrongHostName])
        let pin = try KeyPin(certificate.keyPin)
        #expect(refused?.shownPin == pin.description)
    }

    /// A node of the same name may be misconfigured for a while.
    @Test func aRefusalAfterBytesHaveComeIsRetried() async throws {
        let server = try rig.serve { $0.maxVersion = Self.tls12 }
        let policy = TrustPolicy(name: "modern", version: 2, minimumTLS: .tls13)
        let (caFile, policies) = (rig.caFile, AppliedPolicies(policy))
        let url = server.url()
        let record = try await rig.harness.run(
            .get(url) { attempt in
                attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: caFile, policies: policies)) }
                attempt.resumeData = ResumeData(
                    validators: Validators(etag: "\"a\""), totalLength: 100,
                    finalURL: HTTPURL(
                        scheme: .https, host: "localhost", port: UInt16(clamping: server.port), target: "/"),
                    segments: [Segment(start: 0, committed: 10)])
            })
        #expect(record.error?.cause == .tlsVersion && record.error?.isRetriable == true)
    }
}
