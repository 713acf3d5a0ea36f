import Glibc
import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// Requests through proxies, with logins that only the proxy sees.
@Suite struct ProxyTests {
    private let version = SourceVersion.tagged(60, length: 100_000)

    private func spec(_ url: String, _ login: ProxyLogin? = nil) -> SessionSpec {
        SessionSpec(key: SessionKey(proxy: url, proxyLogin: login))
    }

    private func get(_ url: String, _ spec: SessionSpec) async throws -> Harness.Record {
        try await Harness().run(
            .get(url) { attempt in
                attempt.session = { _ in spec }
                attempt.credential = .basic("me", "0rigin", for: attempt.request.url)
            })
    }

    @Test(.enabled(if: TinyproxyFixture.isInstalled, "needs tinyproxy-bin")) func tinyproxyRelaysHTTPAndTunnelsHTTPS()
        async throws
    {
        let proxy = try await TinyproxyFixture(login: ("ada", "pr0xy"))
        let login = ProxyLogin(user: "ada", password: "pr0xy")
        let server = try await FaultServer()
        server.serve("/file", version)
        let plain = try await get(server.url("/file"), spec(proxy.url, login))
        #expect(plain.outcome.result == .complete && plain.outcome.body == version.bytes)
        #expect(server.requests.allSatisfy { $0.header("Proxy-Authorization") == nil })
        #expect(server.requests[0].header("Authorization")?.hasPrefix("Basic ") == true)

        let rig = try TrustRig()
        let origin = try rig.serve()
        let trust = rig.settings(.ordinary)
        let key = SessionKey(proxy: proxy.url, proxyLogin: login)
        let tunnelled = try await rig.get(origin.url()) { _ in SessionSpec(key: key, trust: trust) }
        #expect(tunnelled.text == "hello\n")
        #expect(proxy.log.contains("CONNECT localhost:\(origin.port)"))
        #expect(origin.counts.heads.allSatisfy { !$0.contains("Proxy-Authorization") })

        for wrong in [nil, ProxyLogin(user: "ada", password: "wr0ng")] {
            let refused = try await get(server.url("/file"), spec(proxy.url, wrong))
            #expect(refused.error?.reason == .authFailed && refused.error?.isRetriable == false, "\(refused.outcome)")
            let key = SessionKey(proxy: proxy.url, proxyLogin: wrong)
            let tunnel = try await rig.get(origin.url()) { _ in SessionSpec(key: key, trust: trust) }
            #expect(tunnel.error?.reason == .authFailed && tunnel.error?.isRetriable == false, "\(tunnel.outcome)")
            #expect(tunnel.error?.message.contains("wr0ng") == false)
        }
    }

    @Test(arguments: [false, true]) func theProxyGetsItsOwnLoginAndTheOriginItsOwn(isSecure: Bool) async throws {
        let rig = try TrustRig()
        let origin = try rig.serve()
        let leaf = try rig.authority.issue()
        let change: (inout TLSServer.Options) -> Void = { options in
            options.isProxy = true
            options.proxyLogin = "ada:pr0xy"
        }
        var plain = TLSServer.Options()
        change(&plain)
        let proxy = isSecure ? try rig.serve(leaf, change) : try TLSServer(plain)
        let trust = rig.settings(.ordinary)
        let url = "\(isSecure ? "https://localhost" : "http://127.0.0.1"):\(proxy.port)"
        let key = SessionKey(proxy: url, proxyLogin: ProxyLogin(user: "ada", password: "pr0xy"))
        let record = try await rig.harness.run(
            .get(origin.url()) { attempt in
                attempt.session = { _ in SessionSpec(key: key, trust: trust) }
                attempt.credential = .basic("me", "0rigin", for: attempt.request.url)
                attempt.request.headers = [HeaderField(name: "X-Api-Key", value: "k3y")]
            })
        #expect(record.text == "hello\n")
        // The CONNECT's own head is not taken for the answer.
        #expect(record.outcome.head?.contentLength == 6)
        #expect(proxy.counts.heads.count == 1)
        let (outer, inner) = (proxy.counts.heads[0], origin.counts.heads[0])
        #expect(outer.contains("Proxy-Authorization") && !outer.contains("\r\nAuthorization") && !outer.contains("k3y"))
        #expect(!inner.contains("Proxy-Authorization") && inner.contains("\r\nAuthorization") && inner.contains("k3y"))
    }

    @Test func aSOCKSProxyResolvesNamesAndKnowsItsUsers() async throws {
        let server = try await FaultServer()
        server.serve("/file", version)
        var options = TLSServer.Options()
        options.isSOCKS = true
        options.proxyLogin = "ada:pr0xy"
        let proxy = try TLSServer(options)
        let url = "socks5h://127.0.0.1:\(proxy.port)"
        // This machine cannot resolve the name; the proxy accepts it anyway.
        let target = "http://nowhere.test:\(server.port)/file"
        let right = try await get(target, spec(url, ProxyLogin(user: "ada", password: "pr0xy")))
        #expect(right.outcome.body == version.bytes)
        #expect(proxy.counts.requests == ["SOCKS nowhere.test:\(server.port)"])
        let wrong = try await get(target, spec(url, ProxyLogin(user: "ada", password: "wr0ng")))
        #expect(
            wrong.error?.reason == .authFailed && wrong.error?.message.contains("wr0ng") == false, "\(wrong.outcome)")
        #expect(wrong.error?.message == "the proxy \(url) refused the connection: it requires another login")
        let none = try await get(target, spec(url))
        #expect(none.error?.reason == .authFailed, "\(none.outcome)")
        #expect(none.error?.message == "the proxy \(url) refused the connection: no login was sent")
    }

    @Test func aProxyThatDoesNotExistIsNamedAndNotTheServer() async throws {
        let port = try FreePort.any()
        for (scheme, target) in [
            ("http", "http://origin.test/f"), ("http", "https://origin.test/f"), ("socks5", "https://127.0.0.1:9/f"),
            ("socks5h", "http://origin.test/f"),
        ] {
            let proxy = "\(scheme)://127.0.0.1:\(port)"
            let error = try await get(target, spec(proxy)).error
            #expect(error?.reason == .connectFailed && error?.proxy == proxy && error?.isRetriable == true)
            #expect(error?.message.hasPrefix("the proxy \(proxy): ") == true, "\(error?.message ?? "")")
        }
        let unknown = try await get("https://origin.test/f", spec("http://nowhere.invalid:3128")).error
        #expect(unknown?.reason == .dnsFailure && unknown?.proxy == "http://nowhere.invalid:3128")
    }

    @Test func aPlainSOCKS5ProxyGetsAddresses() async throws {
        let server = try await FaultServer()
        server.serve("/file", version)
        var options = TLSServer.Options()
        options.isSOCKS = true
        let proxy = try TLSServer(options)
        let url = "socks5://127.0.0.1:\(proxy.port)"
        let record = try await get("http://localhost:\(server.port)/file", spec(url))
        #expect(record.outcome.body == version.bytes)
        #expect(["127.0.0.1", "[::1]", "::1"].contains { proxy.counts.requests == ["SOCKS \($0):\(server.port)"] })
        let unresolved = try await get("http://nowhere.invalid/file", spec(url)).error
        #expect(unresolved?.reason == .dnsFailure && unresolved?.proxy == nil, "\(unresolved?.message ?? "")")
    }

    /// Without a Kerberos ticket there is no token, so the proxy's demand stays.
    @Test(arguments: [false, true])
    func aDemandForNegotiateOrNTLMSaysWhatTheProxyAccepts(isSecure: Bool) async throws {
        let proxy = try await FaultServer()
        proxy.onAnyOther { _ in
            Reply(
                407,
                headers: [
                    HeaderField(name: "Proxy-Authenticate", value: "Negotiate"),
                    HeaderField(name: "Proxy-Authenticate", value: "NTLM"),
                    HeaderField(name: "Content-Length", value: "0"),
                ])
        }
        let url = "http://127.0.0.1:\(proxy.port)"
        let target = "\(isSecure ? "https" : "http")://origin.test/f"
        for login in [nil, ProxyLogin(user: "ada", password: "x"), ProxyLogin(.negotiate, user: "", password: "")] {
            let error = try await get(target, spec(url, login)).error
            #expect(error?.reason == .authFailed && error?.cause == .proxyNegotiate, "\(String(describing: error))")
            let problem = login == nil ? "no login was sent" : "it requires another login"
            #expect(error?.proxy == url)
            #expect(error?.message == "the proxy \(url) answered 407: \(problem); it accepts Negotiate, NTLM")
        }
        #expect(ProxyLogin.Scheme.negotiate.isSupported, "Debian's libcurl has it")
    }

    @Test func connectionsWithDifferentProxyLoginsAreSeparate() async throws {
        let server = try await FaultServer()
        server.serve("/file", version)
        var options = TLSServer.Options()
        options.isSOCKS = true
        options.proxyLogin = "ada:pr0xy"
        let proxy = try TLSServer(options)
        let url = "socks5h://127.0.0.1:\(proxy.port)"
        let harness = try Harness()
        func get(_ login: ProxyLogin?) async throws -> Harness.Record {
            let spec = spec(url, login)
            return try await harness.run(.get(server.url("/file")) { $0.session = { _ in spec } })
        }
        let good = ProxyLogin(user: "ada", password: "pr0xy")
        #expect(try await get(good).outcome.result == .complete)
        #expect(try await get(nil).error?.reason == .authFailed)
        #expect(try await get(good).outcome.result == .complete)
        #expect(proxy.counts.requests.count == 1, "the connection that was let in is used again")
    }

    @Test(arguments: [(403, false), (502, true), (503, true)])
    func aProxyThatDoesNotConnectIsNamed(status: Int, isRetriable: Bool) async throws {
        let proxy = try await FaultServer()
        proxy.onAnyOther { _ in Reply(status, headers: [HeaderField(name: "Content-Length", value: "0")]) }
        let record = try await get("https://origin.test/", spec("http://127.0.0.1:\(proxy.port)"))
        #expect(record.error?.reason == .connectFailed && record.error?.isRetriable == isRetriable, "\(record.outcome)")
        #expect(record.error?.message.contains("127.0.0.1:\(proxy.port) answered \(status)") == true)
        #expect(record.error?.proxy == "http://127.0.0.1:\(proxy.port)")
    }
}

/// Client certificates that come with the session, not with a policy.
@Suite struct SessionCertificateTests {
    @Test func sessionsWithDifferentClientCertificatesDoNotShareConnections() async throws {
        let rig = try TrustRig()
        let server = try rig.serve { $0.clientAuthority = rig.authority.pem }
        func files(_ name: String) throws -> ClientCertificateFiles {
            func named(_ name: String) -> TestCA.Leaf {
                var leaf = TestCA.Leaf.clientOnly
                leaf.commonName = name
                return leaf
            }
            let leaf = try rig.authority.issue(named(name))
            try FileTree.write(rig.authority.chain(for: leaf), to: rig.directory.file("\(name).pem"))
            try FileTree.write(leaf.privateKey, to: rig.directory.file("\(name).key"), mode: 0o600)
            return ClientCertificateFiles(
                certificate: rig.directory.file("\(name).pem"), key: rig.directory.file("\(name).key"))
        }
        let (one, two) = (try files("one"), try files("two"))
        let trust = rig.settings(.ordinary)
        for certificate in [one, two, one, nil, two] {
            let key = SessionKey(clientCertificate: certificate)
            let record = try await rig.get(server.url()) { _ in SessionSpec(key: key, trust: trust) }
            #expect(record.text == "hello\n", "\(record.outcome)")
        }
        #expect(server.counts.connections == 3)
        #expect(server.counts.clients.map { $0.contains("one") } == [true, false])
        chmod(one.key, 0o640)
        let other = SessionKey(profile: "fresh", clientCertificate: one)
        let exposed = try await rig.get(server.url()) { _ in SessionSpec(key: other, trust: trust) }
        #expect(exposed.error?.reason == .trustRejected)
        #expect(server.counts.requests.count == 5)
    }
}
