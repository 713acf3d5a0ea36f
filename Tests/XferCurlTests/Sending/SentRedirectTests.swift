import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Where content goes when the server sends the request elsewhere.
@Suite struct SentRedirectTests {
    @Test(
        arguments: [
            (.post, 301, "GET"), (.post, 302, "GET"), (.post, 303, "GET"), (.post, 307, "POST"), (.post, 308, "POST"),
            (.put, 301, "PUT"), (.put, 302, "PUT"), (.put, 303, "GET"), (.put, 307, "PUT"), (.patch, 301, "PATCH"),
            (.delete, 302, "DELETE"), (.delete, 303, "GET"), (.delete, 308, "DELETE"),
        ] as [(HTTPMethod, Int, String)])
    func methodAndContentFollowTheRedirectStatus(method: HTTPMethod, status: Int, then: String) async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/b", status: status) }
        server.on("/b") { _ in Reply(200, text: "end") }
        let content = SourceVersion.tagged(110, length: 200_000).bytes
        let attempt = try Attempt.exchange(method, server.url("/a"), .bytes(content)) { attempt in
            attempt.request.headers = ["Content-Type", "Content-Language", "X-Plain"].map {
                HeaderField(name: $0, value: "v")
            }
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("end".utf8))
        let requests = server.requests
        #expect(requests.map(\.method) == [method.rawValue, then])
        #expect(requests[0].body == content)
        let isKept = then != "GET"
        #expect(requests[1].body == (isKept ? content : []))
        #expect((requests[1].header("Content-Length") != nil) == isKept)
        #expect((requests[1].header("Content-Type") != nil) == isKept)
        #expect((requests[1].header("Content-Language") != nil) == isKept)
        #expect(requests[1].header("X-Plain") == "v")
    }

    @Test func aCrossOriginRedirectSendsTheContentWithoutSecrets() async throws {
        let home = try await FaultServer()
        let other = try await FaultServer()
        home.on("/a") { _ in .redirect(to: other.url("/b"), status: 307) }
        other.on("/b") { _ in Reply(200, text: "end") }
        let file = try SentFile(.tagged(111, length: 100_000))
        let attempt = try Attempt.exchange(.put, home.url("/a"), .file(file.whole)) { attempt in
            attempt.credential = .basic("me", "secret", for: attempt.request.url)
            attempt.request.headers = [HeaderField(name: "X-Api-Key", value: "k")]
        }
        _ = try await Harness().run(attempt)
        let stranger = try #require(other.requests.first)
        #expect(stranger.header("Authorization") == nil)
        #expect(stranger.header("X-Api-Key") == nil)
        #expect(stranger.body == file.version.bytes)
        #expect(home.requests.first?.header("Authorization") != nil)
    }

    @Test func headerRulesApplyHopByHop() async throws {
        let home = try await FaultServer()
        let other = try await FaultServer()
        home.on("/a") { _ in .redirect(to: other.url("/b")) }
        other.on("/b") { _ in Reply(200, text: "end") }
        let pattern = try HostPattern("127.0.0.1:\(other.port)")
        let attempt = try Attempt.exchange(.get, home.url("/a")) { attempt in
            attempt.request.headers = [HeaderField(name: "X-Plain", value: "p")]
            attempt.request.headerRules = [
                HeaderRule(
                    hosts: [pattern],
                    set: [
                        HeaderField(name: "X-Token", value: "other's"), HeaderField(name: "Content-Length", value: "9"),
                    ],
                    remove: ["x-plain", "Accept-Encoding"])
            ]
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.result == .complete)
        #expect(home.requests.first?.header("X-Plain") == "p")
        #expect(home.requests.first?.header("X-Token") == nil)
        let request = try #require(other.requests.first)
        #expect(request.header("X-Token") == "other's")
        for name in ["X-Plain", "Accept-Encoding", "Content-Length"] { #expect(request.header(name) == nil) }
    }

    /// A server that redirected a POST to its result has acted; one that wants the POST elsewhere has not.
    @Test(arguments: [(303, true), (307, false)])
    func aRedirectRecordsWhetherTheServerMayHaveActed(status: Int, mayHave: Bool) async throws {
        let server = try await FaultServer()
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let url = closed.url("/b")
        server.on("/a") { _ in .redirect(to: url, status: status) }
        let record = try await Harness().run(.exchange(.post, server.url("/a"), .bytes([1])))
        #expect(record.error?.reason == .connectFailed)
        #expect(record.outcome.requestWasSent == mayHave)
    }

    @Test func anEndlessRedirectOfContentEnds() async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/a", status: 307) }
        let record = try await Harness().run(.exchange(.put, server.url("/a"), .bytes([1])))
        #expect(record.error?.reason == .tooManyRedirects)
        #expect(server.requests.count == 21)
    }
}
