import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// A profile's credential and client certificate: each is unset by its own field, neither takes the other along.
@Suite struct ProfileSecretTests {
    private let trust: TrustFixture

    init() throws { trust = try TrustFixture() }

    @Test func nullUnsetsOneSecretOfAProfileAndLeavesTheOther() async throws {
        let leaf = try trust.authority.issue()
        var subject = TestCA.Leaf.clientOnly
        subject.commonName = "somebody"
        let client = try trust.authority.issue(subject)
        let files = (trust.directory.file("client.pem"), trust.directory.file("client.key"))
        try FileTree.write(trust.authority.chain(for: client), to: files.0)
        try FileTree.write(client.privateKey, to: files.1, mode: 0o600)
        let authority = trust.authority.pem
        let server = try trust.server(leaf) { $0.clientAuthority = authority }
        try await withDaemon(trust.options()) { daemon in
            try await daemon.setProfile([
                "name": "both", "base_url": .string("https://localhost:\(server.port)/"),
                "credential": ["scheme": "bearer", "secret": "t0ken"],
                "client_cert": ["certificate": .string(files.0), "key": .string(files.1)],
            ])
            let cases: [(name: String, fields: JSONObject, hasToken: Bool, hasCertificate: Bool)] = [
                ("neither", [:], true, true), ("credential", ["credential": .null], false, true),
                ("certificate", ["client_cert": .null], true, false),
                ("both", ["credential": .null, "client_cert": .null], false, false),
                ("own", ["credential": ["user": "me", "password": "pw"]], false, true),
            ]
            for (name, fields, hasToken, hasCertificate) in cases {
                var fields = fields
                fields["profile"] = "both"
                fields["kind"] = "data"
                fields["max_retries"] = 0
                let anonymous = server.counts.anonymous
                let view = try await daemon.finish(try await daemon.add(name, fields))
                #expect(view.state == "completed", "\(name): \(view.json.text)")
                let counts = server.counts
                let head = try #require(counts.heads.last { $0.hasPrefix("GET /\(name) ") }, "\(name)")
                #expect(head.contains("Bearer t0ken") == hasToken, "\(name): \(head)")
                // Connections are kept, but never shared by requests that differ in this.
                #expect(hasCertificate ? counts.anonymous == anonymous : counts.anonymous > 0, "\(name)")
                #expect(counts.clients.allSatisfy { $0.contains("somebody") } && !counts.clients.isEmpty)
            }
        }
    }
}

extension TLSServer.Counts {
    /// Connections whose client showed no certificate.
    fileprivate var anonymous: Int { handshakes - clients.count }
}
