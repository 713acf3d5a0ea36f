import Testing
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

/// Answers of `data` tasks that are coded, cut short, or not what their head says.
@Suite struct CodedAnswerTests {
    private static func reply(_ body: [UInt8], _ fields: [(String, String)], status: Int = 200) -> Reply {
        let all = fields + [("Content-Length", "\(body.count)")]
        return Reply(
            status, headers: all.map { HeaderField(name: $0.0, value: $0.1) }, body: [.bytes(body)])
    }

    /// Runs one `data` task, once, and gives its end and its result.
    private func run(
        _ reply: Reply, asking accepted: String? = nil, change: (inout ManagerSettings) -> Void = { _ in },
        specify: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> (task: TransferTask, body: [UInt8]?) {
        let fixture = try await ManagerFixture()
        fixture.server.on("/x") { _ in reply }
        let manager = try await fixture.open(change: change)
        try await manager.start()
        var request = RequestFields(kind: .data)
        request.headers = accepted.map { [HeaderField(name: "Accept-Encoding", value: $0)] } ?? []
        let draft = TaskDraft(url: fixture.server.url("/x"), request: request) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: fixture.downloads), kind: .data)
            specification.retry = RetryLimits(maxRetries: 0, retryFor: 0)
            specify(&specification)
            return specification
        }
        let id = try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
        let task = try await fixture.end(of: id, in: manager)
        let page = try? await manager.bytes.result(of: id, offset: 0, length: 1 << 20, for: ManagerFixture.caller)
        await manager.shutdown(.suspend)
        return (task, page?.bytes)
    }

    // MARK: Codings

    @Test(arguments: CodedText.all, [1 << 20, 10])
    func aRequestedCodingIsDecoded(_ coded: CodedText, inMemory: Int) async throws {
        let coding = ("Content-Encoding", coded.coding.rawValue)
        let (task, body) = try await run(Self.reply(coded.bytes, [coding]), asking: coded.coding.rawValue) {
            $0.largestInlineResult = inMemory
        }
        #expect(task.state == .completed)
        #expect(body == CodedText.text)
        #expect(task.received == Int64(CodedText.text.count))
        #expect(task.outcome.contentEncoding == nil)
    }

    @Test(arguments: CodedText.all) func anUnrequestedCodingIsKept(_ coded: CodedText) async throws {
        let (task, body) = try await run(
            Self.reply(coded.bytes, [("Content-Encoding", coded.coding.rawValue)]), asking: "identity")
        #expect(task.state == .completed)
        #expect(body == coded.bytes)
        #expect(task.outcome.contentEncoding == coded.coding.rawValue)
    }

    @Test func anAnswerInAnUnrequestedCodingIsNotParsed() async throws {
        let reply = Self.reply(CodedText.gzip.bytes, [("Content-Encoding", "gzip")])
        let (task, body) = try await run(reply, specify: { $0.response.parsers = [.json] })
        #expect(task.error?.reason == .parseFailed)
        #expect(task.error?.message.contains("Accept-Encoding") == true)
        #expect(body == CodedText.gzip.bytes)
    }

    @Test(arguments: CodedText.all, [1 << 20, 10])
    func aTruncatedAnswerIsNotCompleted(_ coded: CodedText, inMemory: Int) async throws {
        let body = Array(coded.bytes.dropLast(3))
        let (task, _) = try await run(
            Self.reply(body, [("Content-Encoding", coded.coding.rawValue)]), asking: coded.coding.rawValue
        ) { $0.largestInlineResult = inMemory }
        #expect(task.state == .failed)
        #expect(task.error?.reason == .shortBody)
    }

    @Test func anEmptyCodedAnswerIsTruncatedUnlessItsLengthIsZero() async throws {
        let (announced, _) = try await run(Self.reply([], [("Content-Encoding", "gzip")]), asking: "gzip")
        #expect(announced.state == .completed)
        var chunked = Self.reply([], [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")])
        chunked.setHeader("Content-Length", nil)
        chunked.isChunked = true
        #expect(try await run(chunked, asking: "gzip").task.error?.reason == .shortBody)
    }

    @Test(arguments: CodedText.all) func garbageUnderACodingIsNotCompleted(_ coded: CodedText) async throws {
        let (task, _) = try await run(
            Self.reply(Array("this is no coded text at all".utf8), [("Content-Encoding", coded.coding.rawValue)]),
            asking: coded.coding.rawValue)
        #expect(task.state == .failed)
        #expect([.protocolError, .shortBody].contains(task.error?.reason))
    }

    @Test(arguments: CodedText.bombs, [1 << 20, 10])
    func aCompressionBombFailsAndLeavesNothing(_ bomb: CodedText, inMemory: Int) async throws {
        let (task, body) = try await run(
            Self.reply(bomb.bytes, [("Content-Encoding", bomb.coding.rawValue)]), asking: "br, zstd"
        ) { $0.largestInlineResult = inMemory }
        #expect(task.state == .failed)
        #expect(task.error?.reason == .expansionLimit)
        #expect(body == nil)
    }

    @Test func theDecodedSizeIsBounded() async throws {
        let (task, _) = try await run(
            Self.reply(CodedText.brotliBomb.bytes, [("Content-Encoding", "br")]), asking: "br"
        ) {
            $0.largestResult = 2 << 20
            $0.largestResultRatio = 1_000_000_000
        }
        #expect(task.error?.reason == .lengthMismatch)
    }

    // MARK: Digests

    private static func digest(_ bytes: [UInt8]) throws -> (String, String) {
        let digest = try FileDigest.compute(bytes, algorithm: .sha256)
        return ("Repr-Digest", "sha-256=:\(Base64.encode(digest.bytes)):")
    }

    @Test(arguments: [1 << 20, 10]) func aWrongDigestIsNotCompleted(inMemory: Int) async throws {
        let body = Array("what the server sends".utf8)
        let wrong = try Self.digest(Array("what it should have sent".utf8))
        for field in [wrong, ("Content-Digest", wrong.1)] {
            let (task, _) = try await run(Self.reply(body, [field])) { $0.largestInlineResult = inMemory }
            #expect(task.state == .failed)
            #expect(task.error?.reason == .checksumMismatch)
        }
        let (lax, _) = try await run(
            Self.reply(body, [wrong]), change: { $0.largestInlineResult = inMemory },
            specify: { $0.request.announcedDigests = .ignore })
        #expect(lax.state == .completed)
        let (right, _) = try await run(Self.reply(body, [try Self.digest(body)])) { $0.largestInlineResult = inMemory }
        #expect(right.state == .completed)
    }

    @Test func aDigestIsOfTheCodedBytes() async throws {
        let coded = CodedText.gzip.bytes
        let fields = [("Content-Encoding", "gzip"), try Self.digest(coded)]
        let (task, body) = try await run(Self.reply(coded, fields), asking: "gzip")
        #expect(task.state == .completed)
        #expect(body == CodedText.text)
        let other = [("Content-Encoding", "gzip"), try Self.digest(CodedText.text)]
        #expect(try await run(Self.reply(coded, other), asking: "gzip").task.error?.reason == .checksumMismatch)
    }

    @Test func anErrorStatusRemainsTheReasonDespiteABrokenBody() async throws {
        let wrong = try Self.digest([1])
        let (task, body) = try await run(Self.reply(Array("gone".utf8), [wrong], status: 410))
        #expect(task.error?.reason == .httpStatus)
        #expect(body == Array("gone".utf8))
        let cut = Self.reply([0x1f, 0x8b], [("Content-Encoding", "gzip")], status: 404)
        #expect(try await run(cut, asking: "gzip").task.error?.reason == .httpStatus)
    }
}
