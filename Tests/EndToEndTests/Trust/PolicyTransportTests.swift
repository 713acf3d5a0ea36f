import StrictJSON
import Testing
import XferTestSupport

/// A policy decides the same over every transport, and as other programs do.
@Suite struct PolicyTransportTests {
    private let trust: TrustFixture

    init() throws { trust = try TrustFixture() }

    @Test(.enabled(if: NginxFixture.isInstalled), arguments: ["1.1", "2"], ["localhost", "127.0.0.1", "[::1]"])
    func policiesAreEnforcedOverEveryHTTPVersionAndAddress(version: String, host: String) async throws {
        let leaf = try trust.authority.issue()
        var options = NginxFixture.Options()
        options.tls = (trust.authority.chain(for: leaf), leaf.privateKey)
        options.listensOnIPv6 = true
        let nginx = try await NginxFixture(options)
        let source = SourceVersion.tagged(3, length: 100_000)
        try nginx.publish(source, as: "f")
        let place = "\(host):\(nginx.httpsPort)"
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("site", place, [leaf.keyPin])
            let fields: JSONObject = ["http_version": .string(version)]
            try expectFile(try await daemon.complete(try await daemon.add("https://\(place)/f", fields)), is: source)
            try await eventually("nginx has logged it") { try nginx.log.count == 1 }
            #expect(try nginx.log.map(\.httpVersion) == [version == "2" ? "HTTP/2.0" : "HTTP/1.1"])
            try await daemon.pin("site", place, [TrustFixture.foreignPin])
            let view = try await daemon.fails(try await daemon.add("https://\(place)/f", fields), "pin_mismatch")
            #expect(view.errorMessage.contains(leaf.keyPin))
            try await daemon.expectDownloads(["f"])
            #expect(try nginx.log.count == 1)
        }
    }

    /// A proxy only carries the connection: the origin's policy decides.
    @Test(
        .enabled(if: NginxFixture.isInstalled),
        arguments: [("http", "1.1"), ("http", "2"), ("socks5h", "1.1"), ("socks5h", "2")],
        ["localhost", "127.0.0.1", "[::1]"])
    func policiesAreEnforcedThroughAProxyOverEveryHTTPVersionAndAddress(
        way: (scheme: String, version: String), host: String
    ) async throws {
        let leaf = try trust.authority.issue()
        var options = NginxFixture.Options()
        options.tls = (trust.authority.chain(for: leaf), leaf.privateKey)
        let nginx = try await NginxFixture(options)
        let source = SourceVersion.tagged(3, length: 100_000)
        try nginx.publish(source, as: "f")
        var proxyOptions = TLSServer.Options()
        proxyOptions.isProxy = way.scheme == "http"
        proxyOptions.isSOCKS = way.scheme == "socks5h"
        let proxy = try TLSServer(proxyOptions)
        let place = "\(host):\(nginx.httpsPort)"
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("site", place, [leaf.keyPin])
            let fields: JSONObject = [
                "http_version": .string(way.version), "proxy": .string("\(way.scheme)://127.0.0.1:\(proxy.port)"),
            ]
            try expectFile(try await daemon.complete(try await daemon.add("https://\(place)/f", fields)), is: source)
            #expect(proxy.counts.connections == 1)
            try await eventually("nginx has logged it") { try nginx.log.count == 1 }
            #expect(try nginx.log.map(\.httpVersion) == [way.version == "2" ? "HTTP/2.0" : "HTTP/1.1"])
            try await daemon.pin("site", place, [TrustFixture.foreignPin])
            try await daemon.fails(try await daemon.add("https://\(place)/f", fields), "pin_mismatch")
            #expect(proxy.counts.connections == 2)
            #expect(try nginx.log.count == 1)
        }
    }

    /// However a host is written, it has its policy.
    @Test func noSpellingOfAHostEscapesItsPolicy() async throws {
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf)
        let names = ["localhost", "LOCALHOST", "%6cocalhost"]
        let addresses = [
            "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]",
        ]
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("name", "LocalHost.:\(server.port)", [TrustFixture.foreignPin])
            try await daemon.pin("address", "127.0.0.1:\(server.port)", [TrustFixture.foreignPin])
            for host in names + addresses {
                let view = try await daemon.finish(try await daemon.add("https://\(host):\(server.port)/f"))
                #expect(view.state == "failed" && view.errorReason == "pin_mismatch", "\(host): \(view.json.text)")
                let policy = names.contains(host) ? "name" : "address"
                #expect(view.errorMessage.contains("\"\(policy)\""), "\(host): \(view.errorMessage)")
                let plain = try await daemon.refusal(
                    "task.add", ["url": .string("http://\(host):\(server.port)/f")])
                #expect(plain?.code == -32004, "\(host)")
            }
            // The root's dot: not every resolver finds such a name.
            for host in ["localhost.", "LOCALHOST."] {
                let plain = try await daemon.refusal("task.add", ["url": .string("http://\(host):\(server.port)/f")])
                #expect(plain?.code == -32004, "\(host)")
                let named = try await daemon.add("https://\(host):\(server.port)/", ["policy": "name", "paused": true])
                #expect(try await daemon.task(named)["policy"] == "name")
            }
            #expect(server.counts.requests.isEmpty)
        }
    }

    @Test(arguments: [Int32(0), 0x0303])
    func sessionsAreNotResumedEvenIfTheServerOffersIt(maxVersion: Int32) async throws {
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf) { options in
            options.offersResumption = true
            options.headers = "Connection: close\r\n"
            options.maxVersion = maxVersion
        }
        // The offer is real: a client that wants to resumes.
        let openssl = try #require(Command.find("openssl"))
        let kept = trust.directory.file("session")
        let connect = ["s_client", "-connect", "127.0.0.1:\(server.port)", "-ign_eof"]
        let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        _ = try await Command.run(openssl, connect + ["-sess_out", kept], input: request)
        _ = try await Command.run(openssl, connect + ["-sess_in", kept], input: request)
        #expect(server.counts.resumptions == 1)
        let before = server.counts

        let host = "localhost:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            let lax: JSONObject = [
                "mode": "none", "allow_invalid_certificates": true, "validates_domain_name": false,
            ]
            for round in 0..<3 {
                try await daemon.pin("site", host, [], lax)
                try await daemon.complete(try await daemon.add("https://\(host)/lax\(round)"))
                try await daemon.complete(try await daemon.add("https://\(host)/again\(round)"))
                try await daemon.pin("site", host, [TrustFixture.foreignPin])
                try await daemon.fails(try await daemon.add("https://\(host)/strict\(round)"), "pin_mismatch")
            }
        }
        #expect(server.counts.requests.count - before.requests.count == 6)
        #expect(server.counts.connections - before.connections == 9)
        #expect(server.counts.resumptions == 1)
    }

    @Test(arguments: [true, false])
    func aPinnedCertificateInTheSentChainDoesNotSatisfyAPin(isCertified: Bool) async throws {
        let pinned = try trust.authority.issue()
        let attacker = isCertified ? try trust.authority.issue() : try TestCA.selfSigned()
        let stuffed = attacker.certificate + pinned.certificate + trust.authority.pem
        let server = try TLSServer(TLSServer.Options(chain: stuffed, privateKey: attacker.privateKey))
        let host = "localhost:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            for (mode, pin) in [
                ("public_key", pinned.keyPin), ("public_key", pinned.certificate), ("certificate", pinned.certificate),
            ] {
                for isLax in [false, true] {
                    try await daemon.pin(
                        "site", host, [pin], ["mode": .string(mode), "allow_invalid_certificates": .bool(isLax)])
                    let view = try await daemon.finish(try await daemon.add("https://\(host)/f"))
                    #expect(view.state == "failed", "\(mode) \(isLax): \(view.json.text)")
                    #expect(["pin_mismatch", "trust_rejected"].contains(view.errorReason))
                    // The server showed the pinned certificate, which did not count.
                    #expect(view.errorMessage.contains(attacker.keyPin) && view.errorMessage.contains(pinned.keyPin))
                }
            }
            #expect(server.counts.requests.isEmpty)
            #expect(server.counts.connections == 6)
        }
    }

    /// openssl computes the pin that `policy test` shows, and curl accepts and refuses the same pins.
    @Test func opensslAndCurlComputeTheSameLeafPin() async throws {
        let (shell, curl) = (try #require(Command.find("sh")), try #require(Command.find("curl")))
        for key in [TestKey.ec, .rsa(bits: 2048)] {
            var made = TestCA.Leaf()
            made.key = key
            let leaf = try trust.authority.issue(made)
            let server = try trust.server(leaf)
            let place = "localhost:\(server.port)"
            let computed = try await Command.run(
                shell,
                [
                    "-c",
                    """
                    openssl s_client -connect 127.0.0.1:\(server.port) -servername localhost </dev/null 2>/dev/null \
                    | openssl x509 -pubkey -noout | openssl pkey -pubin -outform der \
                    | openssl dgst -sha256 -binary | openssl base64 -A
                    """,
                ])
            let digest = computed.output
            #expect(digest.utf8.count == 44, "\(computed)")
            try await withDaemon(trust.options()) { daemon in
                let shown = try await daemon.ctl("policy", "test", "https://\(place)/", "--json")
                let report = try JSONValue(parsing: Array(shown.output.utf8))
                #expect(report["chain"]?.arrayValue?.first?["pin"] == .string("sha256/\(digest)"))
                for (pin, isRight) in [(digest, true), (String(TrustFixture.foreignPin.dropFirst(7)), false)] {
                    try await daemon.pin("site", place, ["sha256/\(pin)"])
                    let tested = try await daemon.ctl("policy", "test", "https://\(place)/")
                    #expect(tested.exit == .code(isRight ? 0 : 1), "\(tested)")
                    let fetched = try await Command.run(
                        curl,
                        [
                            "-sS", "--cacert", trust.directory.file("ca.pem"), "--pinnedpubkey", "sha256//\(pin)",
                            "https://\(place)/",
                        ])
                    // CURLE_SSL_PINNEDPUBKEYNOTMATCH.
                    #expect(fetched.exit == .code(isRight ? 0 : 90), "\(fetched)")
                }
            }
        }
    }

    @Test func internationalHostsHaveTheirPolicyInEitherSpelling() async throws {
        var made = TestCA.Leaf()
        made.names = ["xn--bcher-kva.localhost"]
        made.addresses = []
        let leaf = try trust.authority.issue(made)
        let server = try trust.server(leaf)
        try await withDaemon(trust.options()) { daemon in
            let policy = try await daemon.pin("books", "bücher.localhost:\(server.port)", [leaf.keyPin])
            #expect(policy["hosts"] == [.string("xn--bcher-kva.localhost:\(server.port)")])
            for host in ["bücher.localhost", "BÜCHER.localhost", "xn--bcher-kva.localhost"] {
                try await daemon.complete(try await daemon.add("https://\(host):\(server.port)/f"))
            }
            try await daemon.pin("books", "*.localhost:\(server.port)", [TrustFixture.foreignPin])
            try await daemon.fails(try await daemon.add("https://bücher.localhost:\(server.port)/f"), "pin_mismatch")
        }
    }
}
