import Glibc
import JSONRPC
import Testing

@testable import XferGateway

/// Which requests of web pages are answered.
struct BrowserRulesTests {
    private static let plain = BrowserRules(
        ListenerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 6800)))
    private static let listed = BrowserRules(
        ListenerConfiguration(
            address: ListenAddress(host: "0.0.0.0", port: 6801), tls: .init(certificate: "/c", key: "/k"),
            hosts: ["xfer.example"], origins: ["https://ui.example"]))

    private static func request(
        _ host: String?, origin: String? = nil, method: String = "POST", _ more: [(name: String, value: String)] = []
    ) -> HTTPRequest {
        let fields = [("Host", host), ("Origin", origin)].compactMap { name, value in
            value.map { (name: name, value: $0) }
        }
        return HTTPRequest(method: method, path: "/rpc", query: nil, headers: fields + more)
    }

    @Test(arguments: [
        "127.0.0.1:6800", "127.0.0.1", "localhost", "LOCALHOST:6800", "[::1]:6800", "192.0.2.7", "localhost.:6800",
    ])
    func anAddressOrLocalhostIsAnAcceptedHost(host: String) {
        #expect(Self.plain.judge(Self.request(host)) == .allowed)
    }

    @Test(arguments: [
        "evil.example", "evil.example:6800", "127.0.0.1.evil.example", "localhost.evil.example", "xfer.example",
        "127.0.0.1:6800:1", "127.0.0.1:x", "127.0.0.1:+80", "[::1", "[evil.example]", "", ":6800", "0x7f.1", "127.1",
    ])
    func anyOtherHostIsRefused(host: String) {
        #expect(Self.plain.judge(Self.request(host)) == .refused(.host))
    }

    @Test func aRequestWithoutOrWithTwoHostsIsRefused() {
        #expect(Self.plain.judge(Self.request(nil)) == .refused(.host))
        #expect(Self.plain.judge(Self.request("localhost", [("host", "evil.example")])) == .refused(.host))
    }

    @Test func aListedHostIsAcceptedOnItsListener() {
        #expect(Self.listed.judge(Self.request("xfer.example:6801")) == .allowed)
        #expect(Self.listed.judge(Self.request("Xfer.Example.")) == .allowed)
    }

    @Test(arguments: [
        "https://evil.example", "null", "http://ui.example", "https://ui.example.evil.example",
        "https://ui.example:444",
        "file://", "",
    ])
    func aForeignOriginIsRefused(origin: String) {
        #expect(Self.listed.judge(Self.request("xfer.example", origin: origin)) == .refused(.origin))
    }

    @Test(
        arguments: [
            ("https://ui.example", "web pages of https://ui.example are"), (nil, "web pages of this origin are"),
            ("", "web pages of this origin are"), ("https://\u{1B}[2J", "web pages of this origin are"),
            (String(repeating: "a", count: 201), "web pages of this origin are"),
        ] as [(String?, String)]) func theRefusalNamesTheOriginToAdd(origin: String?, text: String) throws
    {
        guard case .bytes(let body) = BrowserRules.Refusal.origin.answer(origin: origin).body else {
            Issue.record("no text")
            return
        }
        #expect(String(decoding: body, as: UTF8.self).hasPrefix(text))
    }

    @Test func anAddressThatCannotBeUsedIsExplained() {
        #expect(GatewayError.reason(EADDRNOTAVAIL, host: "192.0.2.20")?.contains("no address 192.0.2.20") == true)
        #expect(GatewayError.reason(EADDRNOTAVAIL, host: "2001:db8::1")?.contains("[::]") == true)
        #expect(GatewayError.reason(EADDRINUSE, host: "::1")?.contains("ss -ltnp") == true)
        #expect(GatewayError.reason(EIO, host: "::1") == nil)
    }

    @Test func theListenersOwnOriginIsAccepted() {
        let own = "https://xfer.example:6801"
        #expect(Self.listed.judge(Self.request("xfer.example:6801", origin: own)) == .allowed)
        let plain = Self.request("xfer.example:6801", origin: "http://xfer.example:6801")
        #expect(Self.listed.judge(plain) == .refused(.origin), "another scheme is another origin")
    }

    @Test func aListedOriginIsAcceptedAndMayReadTheAnswer() {
        let request = Self.request("xfer.example", origin: "https://ui.example")
        #expect(Self.listed.judge(request) == .allowedFrom(origin: "https://ui.example"))
        let two = Self.request("xfer.example", origin: "https://ui.example", [("Origin", "https://evil.example")])
        #expect(Self.listed.judge(two) == .refused(.origin))
    }

    @Test func onlyListedOriginsGetAPreflightAnswered() {
        let asks: [(name: String, value: String)] = [("Access-Control-Request-Method", "POST")]
        func preflight(_ origin: String) -> BrowserRules.Verdict {
            Self.listed.judge(Self.request("xfer.example", origin: origin, method: "OPTIONS", asks))
        }
        #expect(preflight("https://ui.example") == .preflight(origin: "https://ui.example"))
        #expect(preflight("https://evil.example") == .refused(.origin))
        #expect(preflight("null") == .refused(.origin))
    }
}

struct ListenAddressTests {
    @Test(arguments: ["127.0.0.1:6800", "[::1]:6800", "0.0.0.0:1", "[::]:65535"])
    func anAddressWithAPortIsRead(text: String) {
        #expect(ListenAddress(text)?.description == text)
    }

    @Test(arguments: [
        "localhost:6800", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:6800", "[127.0.0.1]:80", ":6800", "",
        "127.1:80", "[::1]", "1.2.3.4:+80",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func loopbackAndWildcardsAreRecognised() {
        #expect(ListenAddress("127.9.9.9:1")?.isLoopback == true && ListenAddress("[::1]:1")?.isLoopback == true)
        #expect(ListenAddress("0.0.0.0:1")?.isLoopback == false && ListenAddress("[::]:1")?.isWildcard == true)
        #expect(ListenAddress("10.0.0.1:1")?.isLoopback == false && ListenAddress("10.0.0.1:1")?.isWildcard == false)
    }
}
