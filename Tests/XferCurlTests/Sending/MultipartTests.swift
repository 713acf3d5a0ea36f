import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// What arrives of a form, as another program reads it.
@Suite(.enabled(if: Command.find("python3") != nil)) struct MultipartTests {
    private static let reader = #"""
        import email, hashlib, sys
        content_type, path = sys.argv[1:]
        body = open(path, 'rb').read()
        message = email.message_from_bytes(b'Content-Type: ' + content_type.encode() + b'\r\n\r\n' + body)
        assert message.is_multipart() and not message.defects, message.defects
        for part in message.get_payload():
            name = part.get_param('name', header='content-disposition')
            data = part.get_payload(decode=True)
            print('|'.join([str(name), str(part.get_filename()), str(part['Content-Type']), str(part['X-Note']),
                str(len(data)), hashlib.sha256(data).hexdigest()]))
        """#

    private func read(_ request: RecordedRequest) async throws -> [String] {
        let directory = try TemporaryDirectory("xfer-form")
        try FileTree.write(request.body, to: directory.file("body"))
        let python = try #require(Command.find("python3"))
        let result = try await Command.run(
            python, ["-c", Self.reader, request.header("Content-Type") ?? "", directory.file("body")])
        #expect(result.isSuccess, "\(result)")
        return result.output.split(separator: "\n").map(String.init)
    }

    private func digest(_ bytes: [UInt8]) -> String {
        Digest.of(bytes).bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func everyPartArrivesAsItWasGiven() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let file = try SentFile(.tagged(90, length: 700_001))
        let text = Array("Grüße\r\n--not a boundary\r\n".utf8)
        let parts = [
            AttemptPart(name: "text", content: .bytes(text)),
            AttemptPart(
                name: "file", content: .file(file.whole), filename: "a \"quoted\"\r\nname.bin",
                contentType: "application/x-own", headers: [HeaderField(name: "X-Note", value: "mine")]),
            AttemptPart(name: "empty", content: .bytes([])),
            AttemptPart(name: "na\"me", content: .file(file.part(100_000..<300_000)), filename: "part.bin"),
        ]
        let harness = try Harness()
        let handle = await harness.engine.start(
            try .exchange(.post, server.url("/form"), .parts(parts)) { attempt in
                attempt.request.headers = [HeaderField(name: "Content-Type", value: "text/plain")]
            })
        let record = try await harness.follow(handle)
        #expect(record.outcome.result == .complete)
        let request = try #require(server.requests.first)
        #expect(request.header("Content-Length") == String(request.body.count))
        #expect(handle.progress.snapshot.sent == Int64(request.body.count))
        #expect(handle.progress.snapshot.sendTotal == Int64(request.body.count))
        #expect(
            try await read(request) == [
                "text|None|None|None|\(text.count)|\(digest(text))",
                "file|a %22quoted%22%0D%0Aname.bin|application/x-own|mine|700001|\(digest(file.version.bytes))",
                "empty|None|None|None|0|\(digest([]))",
                "na%22me|part.bin|application/octet-stream|None|200000|"
                    + digest(file.version.bytes(100_000..<300_000)),
            ])
    }

    @Test func aFileWithoutATypeGetsThatOfItsExtensionElseOctetStream() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let file = try SentFile(.tagged(93, length: 10))
        let own = [HeaderField(name: "Content-Type", value: "application/x-own")]
        let parts = [
            AttemptPart(name: "unnamed", content: .file(file.whole)),
            AttemptPart(name: "known", content: .file(file.whole), filename: "a.b.TXT"),
            AttemptPart(name: "inline", content: .bytes([1]), filename: "data"),
            AttemptPart(name: "field", content: .file(file.whole), filename: "x.png", headers: own),
            AttemptPart(name: "text", content: .bytes([1])),
        ]
        let record = try await Harness().run(.exchange(.post, server.url("/form"), .parts(parts)))
        #expect(record.outcome.result == .complete)
        let request = try #require(server.requests.first)
        let types = try await read(request).map { $0.split(separator: "|").prefix(3).joined(separator: "|") }
        #expect(
            types == [
                "unnamed|None|application/octet-stream", "known|a.b.TXT|text/plain",
                "inline|data|application/octet-stream", "field|x.png|application/x-own", "text|None|None",
            ])
    }

    @Test func aFormIsSentUnchangedAfterARedirect() async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/b", status: 307) }
        server.on("/b") { _ in .redirect(to: "/c", status: 308) }
        server.on("/c") { _ in Reply(200, text: "ok") }
        let file = try SentFile(.tagged(91, length: 300_000))
        let parts = [
            AttemptPart(name: "text", content: .bytes([1, 2, 3])),
            AttemptPart(name: "file", content: .file(file.whole)),
        ]
        let record = try await Harness().run(.exchange(.put, server.url("/a"), .parts(parts)))
        #expect(record.outcome.result == .complete)
        let requests = server.requests
        #expect(requests.map(\.target) == ["/a", "/b", "/c"])
        #expect(Set(requests.map(\.method)) == ["PUT"])
        #expect(Set(requests.map(\.body)).count == 1)
        #expect(Set(requests.map { $0.header("Content-Type") }).count == 1)
    }

    /// Another session's handle would send the form empty; a secret set for the first hop would go along with a kept one.
    @Test func aFormIsSentUnchangedToAnotherSession() async throws {
        let home = try await FaultServer()
        let other = try await FaultServer()
        home.on("/a") { _ in .redirect(to: other.url("/b"), status: 307) }
        other.on("/b") { _ in .redirect(to: home.url("/c"), status: 308) }
        home.on("/c") { _ in Reply(200, text: "ok") }
        let parts = [AttemptPart(name: "text", content: .bytes(Array(repeating: 7, count: 100_000)))]
        let attempt = try Attempt.exchange(.post, home.url("/a"), .parts(parts)) { attempt in
            attempt.credential = .basic("me", "secret", for: attempt.request.url)
            attempt.session = { SessionSpec(key: SessionKey(profile: String($0.port))) }
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.result == .complete)
        let bodies = (home.requests + other.requests).map(\.body)
        #expect(bodies.count == 3 && Set(bodies).count == 1)
        #expect(other.requests.first?.header("Authorization") == nil)
        #expect(home.requests.allSatisfy { $0.header("Authorization") != nil })
    }

    /// The lines before a part are in libcurl's hands when the part has to wait.
    @Test func aFormOfManyPartsObeysALimit() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let parts = (0..<200).map { AttemptPart(name: "p\($0)", content: .bytes(Array(repeating: 7, count: 3000))) }
        let record = try await Harness().run(
            .exchange(.post, server.url("/x"), .parts(parts)) { $0.maxSendRate = 2_000_000 })
        #expect(record.outcome.result == .complete)
        #expect(server.requests.first?.body.count ?? 0 > 600_000)
    }

    @Test func theNextFormHasItsOwnBoundary() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let harness = try Harness()
        let parts = [AttemptPart(name: "text", content: .bytes([1, 2, 3]))]
        for _ in 0..<2 { _ = try await harness.run(.exchange(.post, server.url("/x"), .parts(parts))) }
        #expect(Set(server.requests.map { $0.header("Content-Type") }).count == 2)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [
        AttemptPart(name: "a\0b", content: .bytes([])), AttemptPart(name: "a", content: .bytes([]), filename: "b\0"),
        AttemptPart(name: "a", content: .bytes([]), contentType: "text/plain\r\nX: y"),
        AttemptPart(name: "a", content: .bytes([]), headers: [HeaderField(name: "X", value: "a\r\nY: b")]),
    ])
    func aPartHeaderWithALineBreakIsRefused(part: AttemptPart) async throws {
        let record = try await Harness().run(.exchange(.post, "http://127.0.0.1:1/x", .parts([part])))
        #expect(record.error?.reason == .internalError)
    }
}
