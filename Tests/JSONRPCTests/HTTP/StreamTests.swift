import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferTestSupport

@Suite struct StreamTests {
    @Test func aStreamSendsEachChunkAtOnceAndThenServesTheNextRequest() async throws {
        let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let route = HTTPRoute("/events") { _, _ in
            HTTPAnswer(contentType: "text/event-stream", body: .stream(chunks))
        }
        try await withServer(routes: [route]) { fixture in
            let client = try fixture.connect()
            try await client.send("GET /events HTTP/1.1\r\n\r\n")
            let (status, headers) = try await client.head()
            #expect(status == 200)
            #expect(headers["transfer-encoding"] == "chunked")
            for number in 0..<3 {
                continuation.yield(Array("data: \(number)\n\n".utf8))
                #expect(try await client.chunk() == "data: \(number)\n\n")
            }
            continuation.finish()
            #expect(try await client.chunk() == nil)
            #expect(try await client.exchange("GET /nowhere HTTP/1.1\r\n\r\n").status == 404)
        }
    }

    @Test func aStreamToAnHTTP10ClientEndsByClosing() async throws {
        let route = HTTPRoute("/events") { _, _ in
            HTTPAnswer(contentType: "text/plain", body: .stream(Chunks(["a", "", "b"])))
        }
        try await withServer(routes: [route]) { fixture in
            let client = try fixture.connect()
            try await client.send("GET /events HTTP/1.0\r\n\r\n")
            let (_, headers) = try await client.head()
            #expect(headers["transfer-encoding"] == nil)
            #expect(headers["connection"] == "close")
            #expect(try await client.readToEnd() == "ab")
        }
    }

    @Test func aStreamEndsItsSequenceWhenTheClientDisconnects() async throws {
        let ended = Gate()
        let route = HTTPRoute("/events") { _, _ in
            let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
            continuation.onTermination = { _ in ended.open() }
            continuation.yield([0x61])
            return HTTPAnswer(contentType: "text/plain", body: .stream(chunks))
        }
        try await withServer(routes: [route]) { fixture in
            let client = try fixture.connect()
            try await client.send("GET /events HTTP/1.1\r\n\r\n")
            _ = try await client.head()
            #expect(try await client.chunk() == "a")
            client.disconnect()
            await ended.wait()
        }
    }

    @Test func aStreamWhoseSequenceFailsCutsTheConnection() async throws {
        let route = HTTPRoute("/events") { _, _ in
            HTTPAnswer(contentType: "text/plain", body: .stream(Chunks(["a"], failing: true)))
        }
        try await withServer(routes: [route]) { fixture in
            let client = try fixture.connect()
            try await client.send("GET /events HTTP/1.1\r\n\r\n")
            _ = try await client.head()
            #expect(try await client.readToEnd() == "1\r\na\r\n")
        }
    }

    @Test func aStreamDoesNotRunAheadOfASlowReader() async throws {
        let made = NIOLockedValueBox(0)
        let route = HTTPRoute("/events") { _, _ in
            HTTPAnswer(contentType: "text/plain", body: .stream(Counted(made: made)))
        }
        try await withServer(routes: [route]) { fixture in
            let client = try fixture.connect()
            try await client.send("GET /events HTTP/1.1\r\n\r\n")
            _ = try await client.head()
            // The kernel takes some; then the sequence is not asked for more until the client reads.
            var last = -1
            try await eventually("the sequence rests") {
                let now = made.withLockedValue { $0 }
                defer { last = now }
                return now > 1 && now == last
            }
            #expect(made.withLockedValue { $0 } < Counted.count)
            for _ in 0..<Counted.count { #expect(try await client.chunk()?.utf8.count == Counted.size) }
            #expect(try await client.chunk() == nil)
        }
    }
}

/// Texts as a stream of chunks, one after the other.
struct Chunks: AsyncSequence, Sendable {
    private struct Broken: Error {}

    private let texts: [String]
    private let isFailing: Bool

    init(_ texts: [String], failing isFailing: Bool = false) {
        self.texts = texts
        self.isFailing = isFailing
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: texts[...], isFailing: isFailing) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<String>
        let isFailing: Bool

        mutating func next() async throws -> [UInt8]? {
            if let text = rest.popFirst() { return Array(text.utf8) }
            if isFailing { throw Broken() }
            return nil
        }
    }
}

/// Many large chunks, counted as they are asked for.
private struct Counted: AsyncSequence, Sendable {
    static let count = 400
    static let size = 20_000
    let made: NIOLockedValueBox<Int>

    func makeAsyncIterator() -> Iterator { Iterator(made: made) }

    struct Iterator: AsyncIteratorProtocol {
        let made: NIOLockedValueBox<Int>

        mutating func next() async throws -> [UInt8]? {
            let number = made.withLockedValue { made in
                made += 1
                return made
            }
            return number <= Counted.count ? [UInt8](repeating: 0x78, count: Counted.size) : nil
        }
    }
}
