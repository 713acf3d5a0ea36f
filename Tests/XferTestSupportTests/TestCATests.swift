import Testing
import XferTestSupport

@Suite struct TestCATests {
    /// What `openssl verify` says about a leaf.
    private func verify(_ leaf: TestCertificate, root: TestCA, via: TestCA, _ options: String...) async throws -> String
    {
        let directory = try TemporaryDirectory()
        try FileTree.write(root.pem, to: directory.file("root"))
        try FileTree.write(via.pem, to: directory.file("via"))
        try FileTree.write(leaf.certificate, to: directory.file("leaf"))
        let openssl = try #require(Command.find("openssl"))
        let fixed = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", directory.file("root")]
        let result = try await Command.run(
            openssl, fixed + ["-untrusted", directory.file("via")] + options + [directory.file("leaf")])
        return result.description
    }

    @Test func everyDefectiveCertificateHasTheDefectOfItsName() async throws {
        let root = try TestCA()
        let via = try root.intermediate()
        #expect(try await verify(via.issue(), root: root, via: via, "-verify_hostname", "localhost").contains("OK"))
        #expect(try await verify(via.issue(), root: root, via: via, "-verify_ip", "127.0.0.1").contains("OK"))
        let wrongHost = try await verify(via.issue(.wrongHost), root: root, via: via, "-verify_hostname", "localhost")
        #expect(wrongHost.contains("hostname mismatch"))
        #expect(try await verify(via.issue(.expired), root: root, via: via).contains("has expired"))
        #expect(try await verify(via.issue(.notYetValid), root: root, via: via).contains("not yet valid"))
        #expect(
            try await verify(via.issue(.clientOnly), root: root, via: via).contains("unsuitable certificate purpose"))
        #expect(try await verify(TestCA.selfSigned(), root: root, via: via).contains("self-signed certificate"))
        #expect(try await verify(via.issue(), root: TestCA(), via: via).contains("unable to get local issuer"))
        var rsa = TestCA.Leaf()
        rsa.key = .rsa(bits: 2048)
        #expect(try await verify(via.issue(rsa), root: root, via: via).contains("OK"))
    }

    @Test func aRenewedCertificateKeepsItsKey() throws {
        let ca = try TestCA()
        let first = try ca.issue()
        var again = TestCA.Leaf()
        again.privateKey = first.privateKey
        let second = try ca.issue(again)
        #expect(first.keyPin == second.keyPin)
        #expect(first.der != second.der)
        #expect(try ca.issue().keyPin != first.keyPin)
    }
}
