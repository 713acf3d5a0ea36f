import Testing
import XferCore
import XferModel

/// What proxies demand, and who has answered behind one.
@Suite struct ProxyChallengeTests {
    private static let proxy = "http://proxy.test:3128"
    private static let url = HTTPURL(scheme: .http, host: "host.test", port: 80, target: "/f")

    private static func head(_ status: Int, _ fields: [(String, String)] = [], proxy: String? = proxy) -> ResponseHead {
        var head = ResponseHead(status: status, fields: fields.map { HeaderField(name: $0, value: $1) })
        head.proxy = proxy
        return head
    }

    private static func failure(_ head: ResponseHead) -> TransferError {
        ResponseRules.failure(head, from: url, now: Timestamp(seconds: 0))
    }

    // RFC 9110 §11.6.1 has the second example.
    @Test(arguments: [
        (["Negotiate"], ["Negotiate"]), (["Negotiate", "NTLM"], ["Negotiate", "NTLM"]),
        (
            ["Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\", Basic\", Basic realm=\"simple\""],
            ["Newauth", "Basic"]
        ),
        (["Digest realm=\"a, b\", nonce = \"x\", Basic realm=\"c\""], ["Digest", "Basic"]),
        (["NTLM TlRMTVNTUAAC="], ["NTLM"]), (["Básic, \u{202e}x, Basic"], ["Basic"]), ([""], []), ([", ,"], []),
        (["realm=\"x\""], []), ([], []),
    ])
    func theSchemesOfChallengesAreRead(values: [String], schemes: [String]) {
        let fields = values.map { HeaderField(name: "Proxy-Authenticate", value: $0) }
        #expect(ProxyChallenge(fields).schemes == schemes)
    }

    @Test(arguments: [(7, 7), (8, 8), (9, 8), (20_000, 8)]) func onlyTheFirstSchemesAreRead(count: Int, read: Int) {
        let list = (0..<count).map { "s\($0)" }
        let one = [HeaderField(name: "Proxy-Authenticate", value: list.joined(separator: ", "))]
        #expect(ProxyChallenge(one).schemes == Array(list.prefix(read)))
        let several = list.map { HeaderField(name: "WWW-Authenticate", value: $0) }
        #expect(ProxyChallenge(several, named: "WWW-Authenticate").schemes == Array(list.prefix(read)))
    }

    @Test(
        arguments: [
            (["Basic", "Negotiate"], nil), (["digest"], nil), ([], nil), (["Negotiate", "NTLM"], .proxyNegotiate),
            (["NTLM"], .proxyLoginUnsupported), (["Bearer"], .proxyLoginUnsupported),
        ] as [([String], FailureCause?)])
    func theRemedyFollowsFromTheSchemes(schemes: [String], cause: FailureCause?) {
        let failure = ProxyChallenge(schemes: schemes).failure(
            of: Self.proxy, status: 407, hasLogin: true, host: "host.test")
        #expect(failure.cause == cause && failure.proxy == Self.proxy && failure.reason == .authFailed)
        #expect(!failure.isRetriable && failure.message.contains(Self.proxy))
        for scheme in schemes { #expect(failure.message.contains(scheme)) }
    }

    @Test func aDemandForALoginSaysWhetherOneIsSet() {
        var head = Self.head(407, [("Proxy-Authenticate", "Basic realm=\"p\"")])
        #expect(
            Self.failure(head).message
                == "the proxy \(Self.proxy) answered 407: no login was sent; it accepts Basic")
        head.followsProxyLogin = true
        #expect(
            Self.failure(head).message
                == "the proxy \(Self.proxy) answered 407: it requires another login; it accepts Basic")
        let socks = ProxyChallenge(schemes: []).failure(
            of: "socks5h://p:1080", status: nil, hasLogin: false, host: "host.test")
        #expect(socks.message == "the proxy socks5h://p:1080 refused the connection: no login was sent")
    }

    @Test func aProxysOwnAnswerIsToldFromTheServers() {
        let demand = Self.failure(Self.head(407, [("Proxy-Authenticate", "NTLM")]))
        #expect(demand.reason == .authFailed && demand.cause == .proxyLoginUnsupported && demand.proxy == Self.proxy)
        for fields in [
            ("Proxy-Status", "proxy.test; error=dns_error"), ("X-Squid-Error", "ERR_DNS_FAIL 0"),
            ("Server", "tinyproxy/1.11.1"),
        ] {
            let own = Self.failure(Self.head(502, [fields]))
            #expect(own.message.hasPrefix("the proxy \(Self.proxy) answered 502"), "\(own.message)")
            #expect(own.proxy == Self.proxy && own.isRetriable)
        }
        for status in [400, 403, 405, 500, 502, 503, 504, 511] {
            let either = Self.failure(Self.head(status))
            #expect(either.message.hasPrefix("host.test, or the proxy \(Self.proxy) in its place, answered \(status)"))
            #expect(either.proxy == Self.proxy)
            let isListed = FailedURLRules.lists(either, of: RefusalTests.task().specification, isAuthentic: true)
            #expect(!isListed, "a proxy's refusal says nothing about the URL")
        }
        for status in [401, 404, 410, 429] {
            let servers = Self.failure(Self.head(status))
            #expect(servers.message.hasPrefix("host.test answered \(status)") && servers.proxy == nil)
        }
    }

    @Test func withoutAProxyTheServerHasAnswered() {
        for status in [400, 403, 407, 502] {
            let failure = Self.failure(Self.head(status, [("X-Squid-Error", "x")], proxy: nil))
            #expect(failure.message.hasPrefix("host.test answered \(status)") && failure.proxy == nil)
        }
    }
}
