import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// What goes out for each method, and that nothing of one request is left in the next.
@Suite struct MethodTests {
    @Test func eachMethodSendsItsOwnContentOverOneConnection() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in
            request.method == "HEAD"
                ? Reply(200, headers: [HeaderField(name: "Content-Length", value: "5")]) : Reply(200, text: "hello")
        }
        let harness = try Harness()
        let part = AttemptPart(name: "a", content: .bytes([1]))
        let steps: [(HTTPMethod, AttemptContent?, length: String?)] = [
            (.put, .bytes(Array("first".utf8)), "5"), (.get, nil, nil), (.head, nil, nil), (.get, nil, nil),
            (.post, .bytes(Array("second".utf8)), "6"), (.delete, nil, nil), (.post, nil, "0"), (.put, nil, "0"),
            (.patch, .bytes([0, 255]), "2"), (.head, nil, nil), (.post, .parts([part]), nil), (.get, nil, nil),
            (.delete, .bytes([7]), "1"), (.patch, nil, "0"), (.put, .parts([part]), nil), (.get, .bytes([1]), nil),
        ]
        for (method, content, length) in steps {
            let record = try await harness.run(.exchange(method, server.url("/x"), content))
            #expect(record.outcome.result == .complete)
            #expect(record.outcome.body == (method == .head ? [] : Array("hello".utf8)))
            #expect(record.outcome.requestWasSent)
            let request = try #require(server.requests.last)
            #expect(request.method == method.rawValue)
            #expect(request.header("Transfer-Encoding") == nil)
            #expect(request.header("Expect") == nil)
            if case .parts = content {
                #expect(request.header("Content-Length") == String(request.body.count))
                #expect(request.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
            } else {
                #expect(request.header("Content-Length") == length, "\(method)")
                #expect(request.header("Content-Type") == nil, "\(method)")
                if case .bytes(let bytes) = content, method != .get { #expect(request.body == bytes) }
            }
        }
        #expect(server.requests.count == steps.count)
        #expect(server.connectionCount == 1)
    }

    @Test func theRequestsOwnContentTypeIsSent() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(201, text: "") }
        let attempt = try Attempt.exchange(.post, server.url("/x"), .bytes(Array("{}".utf8))) { attempt in
            attempt.request.headers = [HeaderField(name: "Content-Type", value: "application/json")]
        }
        _ = try await Harness().run(attempt)
        #expect(server.requests.first?.header("Content-Type") == "application/json")
    }

    @Test func aHeadDownloadIsWholeWithoutABody() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(70, length: 50_000))
        let part = try PartFile()
        let record = try await Harness().run(
            .get(server.url("/file"), into: part) { $0.request.method = .head })
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.contentLength == 50_000)
        #expect(try part.bytes.isEmpty)
    }

    @Test func aDownloadMaySendContent() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(71, length: 50_000)
        server.on("/report") { version.honestReply(to: $0) }
        let part = try PartFile()
        let record = try await Harness().run(
            .get(server.url("/report"), into: part) { attempt in
                attempt.request.method = .post
                attempt.content = .bytes(Array("year=2026".utf8))
            })
        #expect(record.outcome.result == .complete)
        #expect(try part.bytes == version.bytes)
        #expect(server.requests.first?.body == Array("year=2026".utf8))
    }

    @Test func onlyAGetIsContinued() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(72, length: 50_000)
        server.on("/report") { version.honestReply(to: $0) }
        let part = try PartFile(holding: Array(version.bytes.prefix(20_000)))
        let record = try await Harness().run(
            try .get(server.url("/report"), into: part) { $0.request.method = .post }.keeping(version, 20_000),
            part: part)
        #expect(server.requests.first?.header("Range") == nil)
        #expect(record.outcome.result == .complete)
        #expect(try part.bytes == version.bytes)
        guard case .restart(_, .methodWithoutRanges) = record.verdicts.first else {
            Issue.record("\(record.verdicts)")
            return
        }
    }
}
