import Testing
import XferModel
import XferTestSupport

@Suite struct FaultServerTests {
    let source = SourceVersion.tagged(7, length: 100_000)

    @Test func anHonestServerSendsTheWholeAndARangeOnOneConnection() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        let client = try RawClient(port: server.port)
        try client.get("/f")
        let head = try client.readHead()
        #expect(head.first == "HTTP/1.1 200 OK")
        #expect(head.contains("ETag: \"v7\"") && head.contains("Content-Length: 100000"))
        #expect(try client.read(100_000).bytes == source.bytes)

        try client.get("/f", "Range: bytes=4090-", "If-Range: \"v7\"")
        #expect(try client.readHead().contains("Content-Range: bytes 4090-99999/100000"))
        #expect(try client.read(100_000 - 4090).bytes == source.bytes(4090..<100_000))

        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.connection) == [1, 1])
        #expect(server.requests(to: "/f").last?.header("range") == "bytes=4090-")
        #expect(server.requests.map(\.status) == [200, 206])
        try await eventually("sent bytes counted") { server.requests.map(\.sent) == [100_000, 95_910] }
    }

    @Test func anHonestServerEvaluatesConditions() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        let client = try RawClient(port: server.port)
        try client.get("/f", "Range: bytes=10-", "If-Range: \"other\"")
        #expect(try client.readHead().first?.contains("200") == true)
        _ = try client.read(100_000)
        try client.get("/f", "If-None-Match: \"v7\"")
        #expect(try client.readHead().first?.contains("304") == true)
        try client.get("/f", "Range: bytes=100000-")
        let head = try client.readHead()
        #expect(head.first?.contains("416") == true && head.contains("Content-Range: bytes */100000"))
    }

    @Test(arguments: [(Reply.Ending.close, RawClient.End.closed), (.reset, .reset)])
    func aDropEndsTheConnectionAfterExactlyTheBytes(_ ending: Reply.Ending, _ seen: RawClient.End) async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.drop(after: 12_345, by: ending)]])
        let client = try RawClient(port: server.port)
        try client.get("/f")
        _ = try client.readHead()
        let (bytes, end) = try client.read()
        #expect(bytes == source.bytes(0..<12_345))
        #expect(end == seen)
    }

    @Test func aStallLastsUntilItsGateOpens() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 1000, until: gate)]])
        let client = try RawClient(port: server.port)
        try client.get("/f")
        _ = try client.readHead()
        #expect(try client.read(1000).bytes == source.bytes(0..<1000))
        await gate.arrived()
        #expect(server.requests.first?.isAnswered == false)
        gate.open()
        #expect(try client.read(99_000).bytes == source.bytes(1000..<100_000))
    }

    /// The gate precedes the pause at the same offset, and no pause follows the last byte.
    @Test func aDripPausesAfterEachOfItsPieces() {
        let gate = Gate()
        var reply = Reply(200, body: [.bytes([1, 2, 3]), .source(source, 0..<5)])
        reply.insert(.gate(gate), at: 4)
        reply.insert(.pause(.zero), every: 2)
        let parts = reply.body.map { part in
            switch part {
            case .bytes(let bytes): "\(bytes)"
            case .source(_, let range): "\(range)"
            case .gate: "gate"
            case .pause: "pause"
            }
        }
        #expect(parts == ["[1, 2]", "pause", "[3]", "0..<1", "gate", "pause", "1..<3", "pause", "3..<5"])
        #expect(reply.bodyLength == 8)
    }

    @Test func headFaultsChangeTheHead() async throws {
        let server = try await FaultServer()
        let served = server.serve("/f", source)
        func firstLines(_ fault: Fault, range: String = "bytes=5-") throws -> [String] {
            served.next([fault])
            let client = try RawClient(port: server.port)
            try client.get("/f", "Range: \(range)")
            return try client.readHead()
        }
        #expect(try firstLines(.ignoreRange).first?.contains("200") == true)
        #expect(try firstLines(.contentRangeTotal(nil)).contains("Content-Range: bytes 5-99999/*"))
        #expect(try firstLines(.startShifted(by: 3)).contains("Content-Range: bytes 8-99999/100000"))
        #expect(try firstLines(.startShifted(by: -3)).contains("Content-Range: bytes 2-99999/100000"))
        #expect(try firstLines(.shortRange(10)).contains("Content-Range: bytes 5-14/100000"))
        #expect(try firstLines(.weakETag).contains("ETag: W/\"v7\""))
        #expect(try firstLines(.contentLength(off: -1)).contains("Content-Length: 99994"))
        #expect(try firstLines(.multipart).contains("Content-Type: multipart/byteranges; boundary=sep"))
        #expect(try firstLines(.unsatisfiable("bytes */9")).contains("Content-Range: bytes */9"))
        #expect(try firstLines(.gzip).contains("Content-Encoding: gzip"))
        #expect(try firstLines(.chunked).contains("Transfer-Encoding: chunked"))
        #expect(try firstLines(.status(503, retryAfter: "7")).contains("Retry-After: 7"))
    }

    @Test func aStoppedServerRefusesConnections() async throws {
        let server = try await FaultServer()
        let port = server.port
        _ = try RawClient(port: port)
        await server.stop()
        #expect(throws: PosixError.self) { _ = try RawClient(port: port) }
        #expect(server.openConnectionCount == 0)
    }
}
