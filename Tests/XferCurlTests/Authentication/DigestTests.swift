import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Digest authentication (RFC 7616), whose 401s within a request are not the answer.
@Suite struct DigestTests {
    private let version = SourceVersion.tagged(50, length: 200_000)

    /// A server of RFC 7616 that knows `me` with the password `s3cret`.
    private struct DigestServer {
        let nonce: String
        var isStale = false

        func reply(to request: RecordedRequest, else reply: () -> Reply) -> Reply {
            guard let field = request.header("Authorization"), field.hasPrefix("Digest ") else { return challenge() }
            var values: [String: String] = [:]
            for pair in field.dropFirst(7).split(separator: ",") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                let name = parts[0].drop { $0 == " " }
                values[String(name)] = parts[1].filter { $0 != "\"" }
            }
            guard values["nonce"] == nonce else { return challenge(isStale: true) }
            func hash(_ text: String) -> String { SHA256Digest.hex(of: Array(text.utf8)) }
            let secret = hash("me:test:s3cret")
            let what = hash("\(request.method):\(values["uri"] ?? "")")
            let parts = [secret, nonce, values["nc"] ?? "", values["cnonce"] ?? "", values["qop"] ?? "", what]
            let isRight = values["uri"] == request.target && values["response"] == hash(parts.joined(separator: ":"))
            return isRight ? reply() : challenge()
        }

        private func challenge(isStale: Bool = false) -> Reply {
            let stale = isStale ? ", stale=true" : ""
            let field = "Digest realm=\"test\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=SHA-256\(stale)"
            return Reply(401, headers: [HeaderField(name: "WWW-Authenticate", value: field)], text: "who are you?")
        }
    }

    private func attempt(_ url: String, password: String = "s3cret", part: PartFile? = nil) throws -> Attempt {
        let sink = part.map { BodySink.file(descriptor: $0.descriptor) } ?? .memory(limit: 1 << 20)
        return try Attempt.get(url, sink: sink) { attempt in
            attempt.credential = ResolvedCredential(
                scheme: .digest, user: "me", secret: password, origins: [attempt.request.url.origin])
        }
    }

    @Test func aDigestChallengeIsAnsweredWithinTheRequest() async throws {
        let server = try await FaultServer()
        server.on("/file") { [version] request in
            DigestServer(nonce: "abc").reply(to: request) { version.honestReply(to: request) }
        }
        let part = try PartFile()
        let record = try await Harness().run(attempt(server.url("/file"), part: part), part: part)
        #expect(record.outcome.result == .complete)
        #expect(record.verdicts.count == 1, "the 401 gets no verdict of its own")
        #expect(server.requests.map(\.status) == [401, 200])
        #expect(try part.bytes == version.bytes)
        #expect(server.requests.allSatisfy { $0.header("Authorization")?.contains("s3cret") != true })
    }

    @Test func aStaleNonceIsReplaced() async throws {
        let server = try await FaultServer()
        server.on("/file") { request in
            DigestServer(nonce: request.index < 2 ? "old" : "new").reply(to: request) { Reply(200, text: "welcome") }
        }
        let harness = try Harness()
        let record = try await harness.run(attempt(server.url("/file")))
        #expect(record.outcome.body == Array("welcome".utf8))
        let again = try await harness.run(attempt(server.url("/file")))
        #expect(again.outcome.body == Array("welcome".utf8))
    }

    /// The server rejects a stale nonce after the client has sent all content, and gets the content again.
    @Test func contentIsSentAgainIdenticallyAfterAChallenge() async throws {
        let server = try await FaultServer()
        server.on("/file") { request in
            DigestServer(nonce: request.index == 0 ? "old" : "new").reply(to: request) { Reply(201, text: "thanks") }
        }
        let file = try SentFile(.tagged(41, length: 300_001))
        let attempt = try Attempt.exchange(.put, server.url("/file"), .file(file.whole)) { attempt in
            attempt.credential = ResolvedCredential(
                scheme: .digest, user: "me", secret: "s3cret", origins: [attempt.request.url.origin])
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.head?.status == 201, "\(record.outcome)")
        #expect(server.requests.map(\.status) == [401, 401, 201])
        // libcurl asks for the first challenge without content.
        #expect(server.requests.map { $0.body == file.version.bytes } == [false, true, true])
    }

    @Test func aWrongPasswordFailsTheRequest() async throws {
        let server = try await FaultServer()
        server.on("/file") { request in
            DigestServer(nonce: "abc").reply(to: request) { Reply(200, text: "welcome") }
        }
        let record = try await Harness().run(attempt(server.url("/file"), password: "wr0ng"))
        #expect(record.error?.reason == .authFailed && record.error?.isRetriable == false)
        #expect(record.error?.message.contains("wr0ng") == false)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [Reply.unauthorized, Reply(401), Reply(401, text: ""), Reply(401, headers: [], ending: .close)])
    func a401WithAnotherSchemeIsTheAnswer(reply: Reply) async throws {
        let server = try await FaultServer()
        var reply = reply
        if reply.header("Content-Length") == nil, case .keepAlive = reply.ending {
            reply.setHeader("Content-Length", "0")
        }
        server.on("/file") { [reply] _ in reply }
        let record = try await Harness().run(attempt(server.url("/file")))
        #expect(record.error?.reason == .authFailed)
        #expect(server.requests.count == 1)
    }

    @Test func aServerThatAlwaysCallsItsNonceStaleIsGivenUp() async throws {
        let server = try await FaultServer()
        server.on("/file") { request in
            let field = "Digest realm=\"test\", nonce=\"\(request.index)\", qop=\"auth\", algorithm=SHA-256, stale=true"
            return Reply(401, headers: [HeaderField(name: "WWW-Authenticate", value: field)], text: "again")
        }
        let record = try await Harness().run(attempt(server.url("/file")))
        #expect(record.error?.reason == .authFailed)
        #expect(server.requests.count <= 8)
    }

    @Test func anotherOriginIsSentNoDigest() async throws {
        let (home, other) = (try await FaultServer(), try await FaultServer())
        let target = other.url("/file")
        home.on("/file") { request in DigestServer(nonce: "abc").reply(to: request) { .redirect(to: target) } }
        other.on("/file") { request in DigestServer(nonce: "abc").reply(to: request) { Reply(200, text: "got you") } }
        let record = try await Harness().run(attempt(home.url("/file")))
        #expect(record.error?.reason == .authFailed)
        #expect(other.requests.count == 1 && other.requests[0].header("Authorization") == nil)
    }

    /// A handle that is used again must not know the earlier request's login.
    @Test func theNextRequestOnTheConnectionHasNoCredential() async throws {
        let server = try await FaultServer()
        server.on("/file") { request in
            DigestServer(nonce: "abc").reply(to: request) { Reply(200, text: "welcome") }
        }
        let harness = try Harness()
        #expect(try await harness.run(attempt(server.url("/file"))).outcome.result == .complete)
        let stranger = try await harness.run(.get(server.url("/file")))
        #expect(stranger.error?.reason == .authFailed)
        #expect(server.requests.last?.header("Authorization") == nil && server.connectionCount == 1)
    }
}

@Suite struct CredentialOriginTests {
    @Test(arguments: [
        (Credential.Scheme.basic, "pw", "Basic bWU6cHc="), (.bearer, "t0ken", "Bearer t0ken"),
        (.netrc, "machine 127.0.0.1 login me password pw", "Basic bWU6cHc="),
    ])
    func aRedirectDropsTheCredentialAndARedirectHomeRestoresIt(
        scheme: Credential.Scheme, secret: String, shown: String
    ) async throws {
        let (home, other) = (try await FaultServer(), try await FaultServer())
        let (away, back) = (other.url("/b"), home.url("/file"))
        home.on("/a") { _ in .redirect(to: away) }
        other.on("/b") { _ in .redirect(to: back) }
        home.on("/file") { _ in Reply(200, text: "end") }
        let attempt = try Attempt.get(home.url("/a")) { attempt in
            attempt.credential = ResolvedCredential(
                scheme: scheme, user: scheme == .basic ? "me" : "", secret: secret,
                origins: [attempt.request.url.origin])
        }
        #expect(try await Harness().run(attempt).outcome.result == .complete)
        #expect(home.requests.map { $0.header("Authorization") } == [shown, shown])
        #expect(other.requests.map { $0.header("Authorization") } == [nil])
    }

    @Test func aCredentialMayHaveSeveralOrigins() async throws {
        let (home, other) = (try await FaultServer(), try await FaultServer())
        let away = other.url("/b")
        home.on("/a") { _ in .redirect(to: away) }
        other.on("/b") { _ in Reply(200, text: "end") }
        let second = try CurlURL.parse(away).url.origin
        let attempt = try Attempt.get(home.url("/a")) { attempt in
            attempt.credential = ResolvedCredential(scheme: .bearer, user: "", secret: "t", origins: [second])
        }
        #expect(try await Harness().run(attempt).outcome.result == .complete)
        #expect(home.requests[0].header("Authorization") == nil)
        #expect(other.requests[0].header("Authorization") == "Bearer t")
    }
}
