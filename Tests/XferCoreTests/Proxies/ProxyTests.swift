import Testing
import XferCore
import XferModel

@Suite struct ProxyTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("HTTPS://Proxy.Example/", "https://proxy.example:443"),
        ("socks5h://[::1]:9050", "socks5h://[::1]:9050"), ("http://10.0.0.1", "http://10.0.0.1:80"),
        ("socks5h://tor.example", "socks5h://tor.example:1080"),
        ("socks5://near.example", "socks5://near.example:1080"),
    ])
    func aProxyURLIsParsedAndWritten(text: String, url: String) throws {
        let server = try ProxyServer(text)
        #expect(server.url == url)
        #expect((server.origin != nil) == url.hasPrefix("https"))
    }

    @Test(arguments: [
        "", "proxy.example:3128", "socks://proxy.example:1", "socks4://p:1", "ftp://p:1", "http://", "http://:80",
        "http://a b:1", "http://proxy.example:0", "http://proxy.example:70000", "http://proxy.example/path",
        "http://*.example:1", "http://.example:1", "http://me:hunter2@proxy.example:1",
    ])
    func anInvalidProxyIsRefusedWithoutRepeatingSecrets(text: String) {
        let fault = #expect(throws: ProxyFault.self) { _ = try ProxyServer(text) }
        #expect(fault?.description.contains("hunter2") == false)
    }

    @Test(arguments: [
        ("example.org", "example.org", true), ("www.example.org", "example.org", true),
        ("WWW.Example.Org.", "example.org", true), ("notexample.org", "example.org", false),
        ("www.example.org", ".example.org", true), ("example.org", ".example.org", true),
        ("example.org", "www.example.org", false), ("anything.test", "*", true), ("127.0.0.1", "*", true),
        ("127.0.0.1", "127.0.0.0/8", true), ("128.0.0.1", "127.0.0.0/8", false), ("[::1]", "::1", true),
        ("[::1]", "[::1]", true), ("[fe80::1]", "fe80::/10", true), ("[::ffff:127.0.0.1]", "127.0.0.0/8", true),
        ("127.0.0.1", "127.0.0.1", true), ("localhost", "127.0.0.0/8", false), ("localhost", "localhost", true),
    ])
    func proxyExceptionsMatchHostsToReachDirectly(host: String, exception: String, isExcepted: Bool) {
        #expect(ProxyExceptions.isValid(exception))
        #expect(ProxyExceptions.contain(host, in: ["unrelated.test", exception]) == isExcepted)
    }

    @Test(arguments: ["", "a b", "http://x", "*.example.org", "example.org:80", "10.0.0.0/33"])
    func anInvalidProxyExceptionIsRefused(text: String) { #expect(!ProxyExceptions.isValid(text)) }

    @Test func proxiesOfTheEnvironmentAreThoseOfCurl() throws {
        let proxies = try EnvironmentProxies([
            "http_proxy": "proxy.test:3128", "HTTPS_PROXY": "https://me:p%40ss@secure.test:8443",
            "NO_PROXY": "localhost, .corp.test 10.0.0.0/8",
        ])
        let plain = try #require(proxies.settings(for: .http))
        #expect(plain.url == "http://proxy.test:3128" && plain.credential == nil)
        #expect(plain.exceptions == ["localhost", ".corp.test", "10.0.0.0/8"])
        let secure = try #require(proxies.settings(for: .https))
        #expect(secure.url == "https://secure.test:8443")
        #expect(secure.credential == Credential(user: "me", password: "p@ss"))
    }

    @Test func allProxyIsTheFallbackAndUppercaseHTTPProxyIsIgnored() throws {
        let proxies = try EnvironmentProxies([
            "ALL_PROXY": "socks5h://tor.test:9050", "HTTP_PROXY": "http://evil.test:1",
        ])
        #expect(proxies.settings(for: .http)?.url == "socks5h://tor.test:9050")
        #expect(proxies.settings(for: .https)?.url == "socks5h://tor.test:9050")
        let none = try EnvironmentProxies(["http_proxy": ""])
        #expect(none.settings(for: .http) == nil && none.settings(for: .https) == nil)
    }

    @Test func aVariableThatNamesNoProxyIsAFault() {
        let fault = #expect(throws: EnvironmentProxyFault.self) {
            _ = try EnvironmentProxies(["https_proxy": "gopher://me:hunter2@x:1"])
        }
        #expect(fault?.variable == "https_proxy" && fault?.description.contains("hunter2") == false)
    }
}
