import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Digest authentication through the real daemon, where something is sent.
///
/// The first request of each asks with an empty content, since the answer is known to be a challenge: libcurl says
/// `Content-Length: 0` then. What follows has the whole content, each time the same.
@Suite struct DigestTests {
    private static let realm = DigestRealm(user: "me", password: "s3cret-digest")
    private static let credential: JSONValue = ["scheme": "digest", "user": "me", "password": "s3cret-digest"]

    private enum Content: String, CaseIterable {
        case raw, file, form

        func fields(_ source: UploadSource) -> JSONObject {
            switch self {
            case .raw:
                ["kind": "data", "method": "POST", "body": ["raw": .string(String(repeating: "ü", count: 50_000))]]
            case .file: ["kind": "upload", "method": "PUT", "source": .string(source.path)]
            case .form: ["kind": "data", "method": "POST", "parts": [["name": "f", "file": .string(source.path)]]]
            }
        }
    }

    @Test(arguments: Content.allCases) private func theContentIsSentAgainAfterTheChallenge(content: Content)
        async throws
    {
        let server = try await FaultServer()
        server.on("/x") { request in
            Self.realm.reply(to: request, nonce: "n1") { Reply(200, text: "ok") }
        }
        let source = try UploadSource(seed: 210, length: 300_000)
        try await withDaemon { daemon in
            var fields = content.fields(source)
            fields["credential"] = Self.credential
            try await daemon.complete(try await daemon.add(server.url("/x"), fields))
            #expect(server.requests.map(\.status) == [401, 200])
            let (asked, sent) = (server.requests[0], server.requests[1])
            #expect(asked.header("Content-Length") == "0" && asked.body.isEmpty)
            #expect(asked.header("Authorization") == "Digest" || asked.header("Authorization") == nil)
            #expect(sent.header("Content-Length") == String(sent.body.count))
            if content == .file {
                #expect(source.version.bytes == sent.body)
            } else {
                #expect(sent.body.count >= 100_000)
            }
            #expect(!daemon.log.contains("s3cret-digest"))
        }
    }

    /// The nonce is taken back when the content has already been sent with it: it goes again, byte for byte.
    @Test(arguments: Content.allCases) private func aStaleNonceIsReplacedAndTheContentSentOnceMore(content: Content)
        async throws
    {
        let server = try await FaultServer()
        server.on("/x") { request in
            Self.realm.reply(to: request, nonce: request.index == 0 ? "n1" : "n2") { Reply(200, text: "ok") }
        }
        let source = try UploadSource(seed: 211, length: 300_000)
        try await withDaemon { daemon in
            var fields = content.fields(source)
            fields["credential"] = Self.credential
            try await daemon.complete(try await daemon.add(server.url("/x"), fields))
            #expect(server.requests.map(\.status) == [401, 401, 200])
            let whole = server.requests.filter { !$0.body.isEmpty }
            #expect(whole.count == 2 && Set(whole.map(\.body)).count == 1, "\(whole.map(\.body.count))")
            #expect(Set(whole.map { $0.header("Content-Type") }).count == 1)
        }
    }

    @Test(arguments: Content.allCases) private func aSecondDigestRefusalFailsTheTask(content: Content) async throws {
        let server = try await FaultServer()
        server.on("/x") { request in
            Self.realm.reply(to: request, nonce: "n1") { Reply(200, text: "ok") }
        }
        let source = try UploadSource(seed: 212, length: 100_000)
        try await withDaemon { daemon in
            var fields = content.fields(source)
            fields["credential"] = ["scheme": "digest", "user": "me", "password": "wr0ng-digest"]
            let view = try await daemon.fails(try await daemon.add(server.url("/x"), fields), "auth_failed")
            #expect(server.requests.map(\.status) == [401, 401])
            #expect(!view.json.text.contains("wr0ng-digest") && !daemon.log.contains("wr0ng-digest"))
        }
    }

    /// A proxy for http that wants a digest; the origin behind it wants another one.
    @Test(arguments: Content.allCases) private func aProxysDigestChallengeIsAnsweredWithTheProxysLogin(content: Content)
        async throws
    {
        let proxy = try await FaultServer()
        let gate = DigestRealm(user: "ada", password: "pr0xy-digest", isProxy: true)
        proxy.onAnyOther { request in
            gate.reply(to: request, nonce: "p1") {
                Self.realm.reply(to: request, nonce: "o1") { Reply(200, text: "behind") }
            }
        }
        let source = try UploadSource(seed: 213, length: 100_000)
        try await withDaemon { daemon in
            var fields = content.fields(source)
            fields["credential"] = Self.credential
            func proxied(password: String) -> JSONValue {
                [
                    "url": .string("http://127.0.0.1:\(proxy.port)"),
                    "credential": ["scheme": "digest", "user": "ada", "password": .string(password)],
                ]
            }
            fields["proxy"] = proxied(password: "pr0xy-digest")
            try await daemon.complete(try await daemon.add("http://127.0.0.7:1/x", fields))
            #expect(
                proxy.requests.map(\.status) == [407, 401, 200] || proxy.requests.map(\.status) == [407, 401, 407, 200])
            #expect(proxy.requests.allSatisfy { $0.target == "http://127.0.0.7:1/x" })
            let whole = Set(proxy.requests.filter { !$0.body.isEmpty }.map(\.body))
            #expect(whole.count == 1)
            if content == .file { #expect(whole.first == source.version.bytes) }

            let count = proxy.requests.count
            fields["proxy"] = proxied(password: "wr0ng-digest")
            let view = try await daemon.fails(try await daemon.add("http://127.0.0.7:1/x", fields), "auth_failed")
            #expect(proxy.requests.dropFirst(count).map(\.status) == [407, 407])
            #expect(!view.json.text.contains("wr0ng-digest"))
        }
    }

    /// The way through a tunnel is asked for twice; the origin hears one request, with its own credential only.
    @Test func aTunnelIsOpenedWithADigestLogin() async throws {
        let trust = try TrustFixture()
        let origin = try trust.server(try trust.authority.issue())
        var options = TLSServer.Options()
        options.isProxy = true
        options.proxyRealm = DigestRealm(user: "ada", password: "pr0xy-digest", isProxy: true)
        let proxy = try TLSServer(options)
        try await withDaemon(trust.options()) { daemon in
            func run(password: String) async throws -> TaskView {
                let fields: JSONObject = [
                    "kind": "data", "credential": ["scheme": "bearer", "secret": "0rigin"],
                    "proxy": [
                        "url": .string("http://127.0.0.1:\(proxy.port)"),
                        "credential": ["scheme": "digest", "user": "ada", "password": .string(password)],
                    ],
                ]
                return try await daemon.finish(try await daemon.add("https://localhost:\(origin.port)/f", fields))
            }
            let refused = try await run(password: "wr0ng-digest")
            #expect(refused.errorReason == "auth_failed", "\(refused.json.text)")
            #expect(origin.counts.connections == 0)
            let before = proxy.counts.requests.count
            let view = try await run(password: "pr0xy-digest")
            #expect(view.state == "completed", "\(view.json.text)")
            #expect(
                proxy.counts.requests.dropFirst(before)
                    == ["CONNECT localhost:\(origin.port) HTTP/1.1", "CONNECT localhost:\(origin.port) HTTP/1.1"])
            #expect(proxy.counts.heads.allSatisfy { !$0.contains("0rigin") && !$0.contains("pr0xy-digest") })
            #expect(origin.counts.heads.count == 1)
            #expect(origin.counts.heads.allSatisfy { $0.contains("Bearer 0rigin") && !$0.contains("Proxy-Auth") })
        }
    }
}
