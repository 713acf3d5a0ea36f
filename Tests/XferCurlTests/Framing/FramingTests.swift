import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Heads that do not say, or not validly, where their content ends.
@Suite struct FramingTests {
    private func fetch(
        _ head: String, body: String = "5\r\nhello\r\n0\r\n\r\n", status: Int = 200, mode: AttemptMode = .download
    ) async throws -> Harness.Record {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 \(status) X\r\n\(head)\r\n\r\n\(body)")
        }
        return try await Harness().run(.get(server.url("/x")) { $0.mode = mode })
    }

    static let invalid = [
        "Content-Length: 6\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 6",
        "Content-Length: 5 5", "Content-Length: 0x5", "Content-Length: 9223372036854775808",
        "Content-Length: 18446744073709551616", "Content-Length: -5", "Content-Length:", "Content-Length: +5",
        "Content-Length: five", "Content-Length : 5", "Content-Length: 5\r\n 5", " Content-Length: 5",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip", "Transfer-Encoding: identity, chunked", "Transfer-Encoding:",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 0x5\r\nHTTP/x: 200", "Transfer-Encoding: gzip, chunked\r\nHTTP/1.1 200 OK: x",
    ]

    @Test(arguments: invalid, [AttemptMode.download, .exchange])
    func invalidFramingFailsBeforeAByteIsKept(_ head: String, mode: AttemptMode) async throws {
        let record = try await fetch(head, mode: mode)
        #expect(record.error?.reason == .invalidFraming)
        #expect(record.error?.isRetriable == false)
        #expect(record.outcome.body == [])
        #expect(record.outcome.offset == 0)
    }

    @Test(arguments: ["Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 5"])
    func equalLengthsCountAsOne(_ head: String) async throws {
        let record = try await fetch(head, body: "hello")
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    /// As in other clients; the length, or else the end of the connection, is the end of the body.
    @Test(arguments: ["Transfer-Encoding: identity\r\nContent-Length: 5", "Transfer-Encoding: identity"])
    func aTransferCodingOfIdentityIsNone(_ head: String) async throws {
        let record = try await fetch(head, body: "hello")
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    /// libcurl waits for the end of the connection, which the server keeps open.
    @Test(arguments: [AttemptMode.download, .exchange])
    func theLengthEndsABodyWithTheTransferCodingIdentity(mode: AttemptMode) async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 X\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello")
            _ = connection.readHead()
        }
        let record = try await Harness().run(.get(server.url("/x")) { $0.mode = mode })
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    @Test(arguments: [AttemptMode.download, .exchange])
    func anEmptyBodyWithTheTransferCodingIdentityEndsWithItsHead(mode: AttemptMode) async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 X\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n")
            _ = connection.readHead()
        }
        let record = try await Harness().run(.get(server.url("/x")) { $0.mode = mode })
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == [])
    }

    @Test func aTransientErrorStatusWithInvalidFramingIsStillRetried() async throws {
        let record = try await fetch("Content-Length: 5, 6", status: 503)
        #expect(record.error?.reason == .invalidFraming)
        #expect(record.error?.isRetriable == true)
        #expect(record.error?.httpStatus == 503)
    }

    @Test(arguments: [
        "zz\r\nhello", "5\r\nhelloXX", "fffffffffffffffff\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nHTTP/1.1 404 X\r\n\r\n",
    ])
    func garbageInPlaceOfAChunkIsInvalidFraming(_ body: String) async throws {
        let record = try await fetch("Transfer-Encoding: chunked", body: body)
        #expect(record.error?.reason == .invalidFraming)
        #expect(record.error?.isRetriable == true)
    }

    @Test func trailersWithoutEndAreNotReportedAsOutOfMemory() async throws {
        let trailer = "X-Trailer: " + String(repeating: "x", count: 100_000) + "\r\n\r\n"
        let record = try await fetch("Transfer-Encoding: chunked", body: "5\r\nhello\r\n0\r\n" + trailer)
        #expect(record.error?.reason == .invalidFraming)
    }

    @Test(arguments: [120_000, 200_000]) func aLineBeyondTheBufferOfLibcurlIsNotReportedAsOutOfMemory(count: Int)
        async throws
    {
        let record = try await fetch("X-Long: " + String(repeating: "x", count: count))
        #expect(record.error?.reason == .protocolError)
        #expect(record.error?.message.contains("100 KiB") == true)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 " + String(repeating: "x", count: count))
        }
        let status = try await Harness().run(.get(server.url("/x")))
        #expect(status.error?.reason == .protocolError)
        #expect(status.error?.message.contains("100 KiB") == true)
    }

    @Test func tooManyFieldsAreReportedAsSuch() async throws {
        func head(_ count: Int) -> String {
            (1..<count).map { "X-\($0): y\r\n" }.joined() + "Content-Length: 5"
        }
        #expect(try await fetch(head(1000), body: "hello").outcome.result == .complete)
        let record = try await fetch(head(1001), body: "hello")
        #expect(record.error?.reason == .protocolError)
        #expect(record.error?.message.contains("more than 1000 header fields") == true)
    }

    // MARK: Unrequested parts

    @Test(arguments: [AttemptMode.download, .exchange])
    func anUnrequestedPartThatIsTheWholeIsAccepted(mode: AttemptMode) async throws {
        let record = try await fetch(
            "Content-Range: bytes 0-4/5\r\nContent-Length: 5", body: "hello", status: 206, mode: mode)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    static let parts = [
        "Content-Range: bytes 0-4/10\r\nContent-Length: 5", "Content-Range: bytes 5-9/10\r\nContent-Length: 5",
        "Content-Range: bytes 0-4/*\r\nContent-Length: 5", "Content-Length: 5",
        "Content-Range: bytes 0-5/6\r\nContent-Length: 5",
        "Content-Range: bytes 0-4/5\r\nContent-Type: multipart/byteranges; boundary=x\r\nContent-Length: 5",
        "Content-Range: bytes 0-4/5\r\nContent-Range: bytes 0-4/10\r\nContent-Length: 5",
    ]

    @Test(arguments: parts, [AttemptMode.download, .exchange])
    func anyOtherUnrequestedPartFails(_ head: String, mode: AttemptMode) async throws {
        let record = try await fetch(head, body: "hello", status: 206, mode: mode)
        #expect(record.error?.reason == .rangeMismatch)
        #expect(record.outcome.body == [])
    }

    @Test(arguments: [HTTPMethod.head, .post, .put, .delete])
    func anUnrequestedPartFailsForEveryMethod(_ method: HTTPMethod) async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in
            var reply = Reply(206, text: method == .head ? "" : "hello")
            reply.setHeader("Content-Range", "bytes 0-4/10")
            if method == .head { reply.setHeader("Content-Length", "5") }
            return reply
        }
        let content: AttemptContent? = method.allowsContent && method != .delete ? .bytes([1]) : nil
        let record = try await Harness().run(.exchange(method, server.url("/x"), content))
        #expect(record.error?.reason == .rangeMismatch)
    }

    @Test func aPartShorterThanItsRangeSaysIsNotTheWhole() async throws {
        let record = try await fetch(
            "Content-Range: bytes 0-9/10\r\nTransfer-Encoding: chunked", status: 206, mode: .exchange)
        #expect(record.error?.reason == .shortBody)
    }
}
