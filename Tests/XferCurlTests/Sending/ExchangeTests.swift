import Glibc
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Answers of every kind, taken as they are.
@Suite struct ExchangeTests {
    @Test(arguments: [200, 204, 300, 304, 400, 401, 404, 412, 416, 429, 500, 503])
    func everyFinalStatusCompletesAnExchange(status: Int) async throws {
        let server = try await FaultServer()
        let hasBody = status != 204 && status != 304
        server.onAnyOther { _ in hasBody ? Reply(status, text: "told") : Reply(status) }
        let record = try await Harness().run(.exchange(.get, server.url("/x")))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.status == status)
        #expect(record.outcome.body == (hasBody ? Array("told".utf8) : []))
        let told = record.events.compactMap { event -> Int? in
            if case .response(let head) = event { head.status } else { nil }
        }
        #expect(told == [status])
    }

    @Test func anAnswerThatBreaksOffIsNoAnswer() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in
            Reply(500, headers: [HeaderField(name: "Content-Length", value: "9")], body: [.bytes([1])], ending: .close)
        }
        let record = try await Harness().run(.exchange(.get, server.url("/x")))
        #expect(record.error?.reason == .shortBody)
        #expect(record.outcome.head?.status == 500)
    }

    @Test(arguments: [0, 1, 999, 1000, 1001, 500_000] as [Int64])
    func aLargeAnswerSpillsToAFile(length: Int64) async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(100, length: length)
        server.serve("/x", version)
        let spill = try PartFile()
        let record = try await Harness().run(
            .exchange(.get, server.url("/x"), sink: .spilling(limit: 1000, atMost: .max, descriptor: spill.descriptor)))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.offset == length)
        if length <= 1000 {
            #expect(record.outcome.body == version.bytes)
            #expect(record.outcome.spilledLength == nil)
            #expect(try spill.bytes.isEmpty)
        } else {
            #expect(record.outcome.body == nil)
            #expect(record.outcome.spilledLength == length)
            #expect(try spill.bytes == version.bytes)
        }
    }

    @Test func aFullDeviceUnderASpillingAnswerIsInsufficientSpace() async throws {
        let server = try await FaultServer()
        server.serve("/x", .tagged(101, length: 100_000))
        let full = try FullDevice()
        let record = try await Harness().run(
            .exchange(.get, server.url("/x"), sink: .spilling(limit: 10, atMost: .max, descriptor: full.descriptor)))
        #expect(record.error?.reason == .insufficientSpace)
    }

    /// However the server frames it.
    @Test(arguments: ["length", "chunks"]) func anAnswerBeyondTheSizeLimitIsRefused(framing: String) async throws {
        let server = try await FaultServer()
        let most: Int64 = 50_000
        for length in [most, most + 1] {
            let version = SourceVersion.tagged(106, length: length)
            let path = "/\(length)"
            switch framing {
            case "chunks":
                server.on(path) { _ in
                    var reply = Reply(
                        200, headers: [HeaderField(name: "Transfer-Encoding", value: "chunked")],
                        body: [.source(version, 0..<length)])
                    reply.isChunked = true
                    return reply
                }
            default: server.serve(path, version)
            }
            let spill = try PartFile()
            let sink = BodySink.spilling(limit: 1000, atMost: most, descriptor: spill.descriptor)
            let record = try await Harness().run(.exchange(.get, server.url(path), sink: sink))
            if length == most {
                #expect(record.outcome.result == .complete)
                #expect(try spill.bytes == version.bytes)
            } else {
                #expect(record.error?.reason == .lengthMismatch)
                #expect(record.error?.isRetriable == false)
                #expect(record.error?.message.contains("\(most) bytes") == true)
                #expect(try Int64(spill.bytes.count) <= most)
            }
        }
    }

    @Test func anAnswerBeyondTheMemoryLimitFails() async throws {
        let server = try await FaultServer()
        server.serve("/x", .tagged(102, length: 1001))
        let record = try await Harness().run(.exchange(.get, server.url("/x"), sink: .memory(limit: 1000)))
        #expect(record.error?.reason == .lengthMismatch)
    }

    @Test(arguments: [false, true])
    func aCodedAnswerIsKeptVerbatimAndMarkedAsRequestedOrNot(isAskedFor: Bool) async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(103, length: 70_000)
        server.serve("/x", version, faults: [[.gzip]])
        let attempt = try Attempt.exchange(.get, server.url("/x")) { attempt in
            if isAskedFor { attempt.request.headers = [HeaderField(name: "Accept-Encoding", value: "gzip")] }
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Gzip.stored(version.bytes))
        #expect(record.outcome.codings == (isAskedFor ? [.gzip] : []))
        #expect(record.outcome.head?.contentEncoding == "gzip")
        #expect(server.requests.first?.header("Accept-Encoding") == (isAskedFor ? "gzip" : "identity"))
    }

    @Test func aDownloadKeepsACodedBodyVerbatim() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(104, length: 5000)
        server.serve("/x", version, faults: [[.gzip]])
        let record = try await Harness().run(.get(server.url("/x")))
        #expect(record.outcome.head?.contentEncoding == "gzip")
        #expect(record.outcome.body?.starts(with: [0x1f, 0x8b]) == true)
    }

    @Test func aCodedBodyThatBreaksOffIsNoAnswer() async throws {
        let server = try await FaultServer()
        server.serve("/x", .tagged(105, length: 5000), faults: [[.gzip, .drop(after: 2000, by: .close)]])
        let record = try await Harness().run(.exchange(.get, server.url("/x")))
        #expect(record.error != nil)
    }

    @Test func anAnswerOfAnUnknownCodingIsKeptVerbatim() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in
            Reply(200, headers: [HeaderField(name: "Content-Encoding", value: "compress2000")], text: "???")
        }
        let record = try await Harness().run(.exchange(.get, server.url("/x")))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("???".utf8))
        #expect(record.outcome.codings == [])
    }

    /// Nothing on the loop decodes: what takes others' time is what came over the network.
    @Test(arguments: CodedText.bombs) func aCompressionBombIsAsLargeOnTheLoopAsOnTheWire(_ bomb: CodedText) async throws
    {
        let server = try await FaultServer()
        server.onAnyOther { _ in
            let fields = [("Content-Encoding", bomb.coding.rawValue), ("Content-Length", "\(bomb.bytes.count)")]
            return Reply(
                200, headers: fields.map { HeaderField(name: $0.0, value: $0.1) }, body: [.bytes(bomb.bytes)])
        }
        let attempt = try Attempt.exchange(.get, server.url("/x"), sink: .memory(limit: 4000)) { attempt in
            attempt.request.headers = [HeaderField(name: "Accept-Encoding", value: bomb.coding.rawValue)]
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.body == bomb.bytes)
        #expect(record.outcome.codings == [bomb.coding])
    }

    @Test func interimResponsesAreReported() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in
            var reply = Reply(201, text: "done")
            let interim = [
                "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u/1\r\n\r\n",
                "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 7\r\n\r\n",
            ]
            reply.preamble = Array(interim.joined().utf8)
            return reply
        }
        let record = try await Harness().run(.exchange(.post, server.url("/x"), .bytes([1])))
        let told = record.events.compactMap { event -> String? in
            guard case .informational(let head) = event else { return nil }
            return "\(head.status) \(head.location ?? "-") \(head.value("Upload-Offset") ?? "-")"
        }
        #expect(told == ["104 /u/1 -", "104 - 7"])
        #expect(record.outcome.head?.status == 201)
        #expect(record.outcome.head?.location == nil)
    }

    @Test func aDownloadsStatusAndTypeAreJudgedBeforeAByteIsKept() async throws {
        let server = try await FaultServer()
        server.on("/page") { _ in
            Reply(200, headers: [HeaderField(name: "Content-Type", value: "text/html; charset=utf-8")], text: "<p>")
        }
        server.on("/missing") { _ in
            Reply(404, headers: [HeaderField(name: "Content-Type", value: "text/html")], text: "<p>")
        }
        server.on("/image") { _ in
            Reply(200, headers: [HeaderField(name: "Content-Type", value: "Image/PNG")], text: "png")
        }
        let harness = try Harness()
        func fetch(_ path: String) async throws -> (Harness.Record, [UInt8]) {
            let part = try PartFile()
            let attempt = try Attempt.get(server.url(path), into: part) {
                $0.request.acceptedTypes = ["image/png", "image/webp"]
            }
            return (try await harness.run(attempt), try part.bytes)
        }
        let (page, bytes) = try await fetch("/page")
        #expect(page.error?.reason == .unacceptableType)
        #expect(page.error?.isRetriable == false)
        #expect(bytes.isEmpty)
        let (missing, _) = try await fetch("/missing")
        #expect(missing.error?.reason == .httpStatus)
        #expect(missing.error?.message.contains("text/html") == true)
        #expect(try await fetch("/image").0.outcome.result == .complete)
    }
}
