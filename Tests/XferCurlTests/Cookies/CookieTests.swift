import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Cookie jars: what libcurl keeps and sends (RFC 6265), for whom.
@Suite struct CookieTests {
    private let harness: Harness
    private let server: FaultServer

    init() async throws {
        harness = try Harness()
        server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
    }

    private func set(_ path: String, _ cookies: String...) {
        server.on(path) { _ in
            Reply(200, headers: cookies.map { HeaderField(name: "Set-Cookie", value: $0) }, text: "ok")
        }
    }

    /// The `Cookie` fields of a GET.
    @discardableResult
    private func get(
        _ path: String, jar: String? = "one", host: String? = nil, _ change: (inout Attempt) -> Void = { _ in }
    ) async throws -> [String] {
        let url = host.map { "http://\($0):\(server.port)\(path)" } ?? server.url(path)
        let before = server.requests.count
        let record = try await harness.run(
            .get(url) { attempt in
                attempt.cookieJar = jar
                change(&attempt)
            })
        #expect(record.outcome.result == .complete, "\(record.outcome.result)")
        let fields = server.requests[before].headers.filter { $0.name.equalsIgnoringASCIICase("Cookie") }
        return fields.map(\.value)
    }

    @Test func aCookieIsSentBackToItsServerOnly() async throws {
        set("/login", "sid=abc", "theme=dark; Path=/deep", "gone=1; Max-Age=0", "safe=1; Secure; HttpOnly")
        try await get("/login")
        let sent = try await get("/x")
        #expect(sent == ["safe=1; sid=abc"] || sent == ["sid=abc; safe=1"], "\(sent)")
        #expect(try await get("/deep/er").first?.contains("theme=dark") == true)
        // 127.0.0.1 may have the secure one over http, for libcurl; another host has none at all.
        #expect(try await get("/x", host: "localhost") == [])
    }

    /// libcurl 7.88 takes both names for one cookie.
    @Test func cookiesWhoseNamesDifferByCaseAreBothSent() async throws {
        set("/login", "sid=1", "SID=2", "other=3; Domain=elsewhere.test; Domain=127.0.0.1")
        try await get("/login")
        #expect(try await get("/x") == ["sid=1; SID=2; other=3"])
    }

    /// As bot shields and publishers do, and wget, aria2 and browsers expect.
    @Test func aCookieSetByARedirectIsSentToTheNextHopsAndForgottenAfterwards() async throws {
        let other = try await FaultServer()
        other.onAnyOther { _ in Reply(200, text: "end") }
        let away = "http://localhost:\(other.port)/end"
        server.on("/gate") { request in
            let isKnown = request.header("Cookie")?.contains("pass=1") == true
            let place = HeaderField(name: "Location", value: isKnown ? away : "/gate")
            return Reply(302, headers: [place, HeaderField(name: "Set-Cookie", value: "pass=1")], text: "")
        }
        let own = [HeaderField(name: "Cookie", value: "mine=2")]
        for fields in [[], own] {
            let before = server.requests.count
            let first = try await get("/gate", jar: nil) { $0.request.headers = fields }
            #expect(first == fields.map(\.value), "nothing is left of an earlier attempt")
            let sent = server.requests.dropFirst(before).map { $0.header("Cookie") }
            #expect(sent == [first.first, fields.isEmpty ? "pass=1" : "pass=1; mine=2"])
        }
        #expect(other.requests.count == 2 && other.requests.allSatisfy { $0.header("Cookie") == nil })
        #expect(try await get("/x", jar: "one") == [])
    }

    /// Neither a jar nor what a redirect of the attempt sets; the client's own cookies are still its own.
    @Test func aRequestThatRefusesCookiesSendsNoneThatAServerSets() async throws {
        server.on("/gate") { _ in
            Reply(
                302,
                headers: [
                    HeaderField(name: "Location", value: "/end"), HeaderField(name: "Set-Cookie", value: "pass=1"),
                ], text: "")
        }
        server.on("/end") { _ in Reply(200, text: "end") }
        for own in [false, true] {
            let before = server.requests.count
            try await get("/gate", jar: nil) { attempt in
                attempt.request.refusesCookies = true
                if own { attempt.cookies = ["127.0.0.1\tFALSE\t/\tFALSE\t0\tmine\t2"] }
            }
            let sent = server.requests.dropFirst(before).map { $0.header("Cookie") }
            #expect(sent == (own ? ["mine=2", "mine=2"] : [nil, nil]))
        }
    }

    @Test func publicSuffixesAreKnown() {
        #expect(PublicSuffixes.contains("org") && PublicSuffixes.contains("co.uk"))
        #expect(PublicSuffixes.contains("co.uk.") && PublicSuffixes.contains("com."))
        #expect(!PublicSuffixes.contains("example.org") && !PublicSuffixes.contains("example.co.uk"))
    }

    @Test func cookieJarsAreSeparate() async throws {
        set("/login", "sid=abc")
        try await get("/login", jar: "one")
        #expect(try await get("/x", jar: "two") == [])
        #expect(try await get("/x", jar: nil) == [])
        #expect(try await get("/x", jar: "one") == ["sid=abc"])
        // Cookies received without a jar are not kept, on the same handle or another.
        set("/other", "no=1")
        try await get("/other", jar: nil)
        #expect(try await get("/x", jar: "one") == ["sid=abc"])
        #expect(harness.engine.cookies(in: "two") == [])
    }

    @Test func theClientsOwnCookiesComeBehindTheJars() async throws {
        set("/login", "sid=abc")
        try await get("/login")
        let own = HeaderField(name: "cookie", value: "mine=1")
        #expect(try await get("/x") { $0.request.headers = [own] } == ["sid=abc; mine=1"])
        #expect(try await get("/x", jar: "empty") { $0.request.headers = [own] } == ["mine=1"])
        #expect(try await get("/x", jar: nil) { $0.request.headers = [own] } == ["mine=1"])
        #expect(try await get("/x") == ["sid=abc"])
    }

    @Test func everyRedirectHopHasItsOwnCookies() async throws {
        let other = try await FaultServer()
        other.on("/b") { _ in
            Reply(200, headers: [HeaderField(name: "Set-Cookie", value: "theirs=1")], text: "end")
        }
        // Another host, since cookies ignore ports.
        let away = "http://localhost:\(other.port)/b"
        server.on("/a") { _ in
            Reply(
                302,
                headers: [HeaderField(name: "Location", value: away), HeaderField(name: "Set-Cookie", value: "hop=1")],
                text: "")
        }
        try await get("/a") { $0.request.headers = [HeaderField(name: "Cookie", value: "mine=1")] }
        #expect(other.requests[0].header("Cookie") == nil)
        #expect(try await get("/x") == ["hop=1"])
        let lines = harness.engine.cookies(in: "one")
        #expect(lines.contains { $0.hasPrefix("localhost\t") && $0.hasSuffix("\ttheirs\t1") })
    }

    /// Otherwise a user of a profile could send its cookies of any host to any server.
    @Test func aHostFieldDoesNotChooseWhoseCookiesAreSent() async throws {
        harness.engine.addCookies(["bank.test\tFALSE\t/\tFALSE\t0\tsecret\t1"], to: "one")
        let fields = [HeaderField(name: "Host", value: "bank.test")]
        #expect(try await get("/x") { $0.request.headers = fields } == [])
        set("/set", "planted=1; Domain=bank.test")
        try await get("/set") { $0.request.headers = fields }
        #expect(harness.engine.cookies(in: "one").count == 1)
    }

    @Test func aJarIsFilledReadAndForgotten() async throws {
        let lines = [
            "127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tlasting\t1", "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t2",
            "127.0.0.1\tFALSE\t/\tFALSE\t1\tpast\t3", "nonsense",
        ]
        harness.engine.addCookies(lines, to: "one")
        let kept = harness.engine.cookies(in: "one")
        #expect(Set(kept).isSuperset(of: lines[..<2]) && kept.count < lines.count, "\(kept)")
        let sent = try await get("/x")
        #expect(sent == ["lasting=1; session=2"] || sent == ["session=2; lasting=1"])
        harness.engine.replaceCookies(in: "one", by: [lines[0]])
        #expect(try await get("/x") == ["lasting=1"])
        harness.engine.forgetCookies(in: "one")
        #expect(try await get("/x") == [])
    }
}
