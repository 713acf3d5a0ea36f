import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct ShutdownTests {
    @Test func aShutdownWaitsForBegunCallsAndSendsTheirAnswers() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold","id":1}"# + "\n")
            await fixture.service.gate.arrived()
            let idle = try fixture.connect()
            _ = try await idle.call("echo")
            async let ended: Void = fixture.server.shutdown(grace: .seconds(60))
            #expect(try await idle.readLine() == nil)
            #expect(throws: PosixError.self) { try fixture.connect() }
            fixture.service.gate.open()
            #expect(try await client.message()["id"] == 1)
            #expect(try await client.readLine() == nil)
            await ended
            #expect(fixture.server.clientCount == 0)
        }
    }

    @Test func aShutdownSendsAnswersThatAClientHasNotReadYet() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let request = #"{"jsonrpc":"2.0","method":"big","params":{"bytes":3000000},"id":1}"# + "\n"
            try await client.send(request)
            let connection = try await fixture.connection()
            try await eventually("the answer waits for the client") { connection.backlog.bytes > 0 }
            async let ended: Void = fixture.server.shutdown(grace: .seconds(60))
            #expect(try await client.message()["result"]?.stringValue?.utf8.count == 3_000_000)
            #expect(try await client.readLine() == nil)
            await ended
        }
    }

    @Test(arguments: [Set(), ["hold"]])
    func aShutdownClosesByForceWhenItsTimeIsOver(brief: Set<String>) async throws {
        try await withServer(service: TestService(brief: brief)) { fixture in
            let client = try fixture.connect()
            try await client.send(#"{"jsonrpc":"2.0","method":"hold","id":1}"# + "\n")
            await fixture.service.gate.arrived()
            await fixture.server.shutdown(grace: .milliseconds(10))
            #expect(try await client.readLine() == nil)
            try await eventually("the call was cancelled") { fixture.service.cancelled == 1 }
        }
    }

    @Test func aShutdownEndsStreamsWithTheirLastChunk() async throws {
        let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let route = HTTPRoute("/events") { _, _ in HTTPAnswer(contentType: "text/plain", body: .stream(chunks)) }
        try await withServer(routes: [route]) { fixture in
            let client = try fixture.connect()
            try await client.send("GET /events HTTP/1.1\r\n\r\n")
            _ = try await client.head()
            continuation.yield([0x61])
            #expect(try await client.chunk() == "a")
            async let ended: Void = fixture.server.shutdown(grace: .seconds(60))
            #expect(try await client.chunk() == nil)
            #expect(try await client.readToEnd() == "")
            await ended
        }
    }

    @Test func aShutdownAnswersACallOverHTTPAndClosesIdleConnections() async throws {
        try await withServer { fixture in
            let idle = try fixture.connect()
            #expect(try await idle.exchange("GET / HTTP/1.1\r\n\r\n").status == 404)
            let silent = try fixture.connect()
            let client = try fixture.connect()
            let body = #"{"jsonrpc":"2.0","method":"hold","id":1}"#
            try await client.send("POST /rpc HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            await fixture.service.gate.arrived()
            try await eventually("all three are there") { fixture.server.clientCount == 3 }
            async let ended: Void = fixture.server.shutdown(grace: .seconds(60))
            #expect(try await idle.readToEnd() == "")
            #expect(try await silent.readToEnd() == "")
            fixture.service.gate.open()
            let answer = try await client.answer()
            #expect(answer.json?["result"] == "held")
            #expect(answer.headers["connection"] == "close")
            #expect(try await client.readToEnd() == "")
            await ended
        }
    }

    @Test func aStoppedListenerKeepsItsOpenConnections() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            _ = try await client.call("echo")
            await fixture.server.stopAccepting()
            #expect(throws: PosixError.self) { try fixture.connect() }
            #expect(try await client.call("echo")["id"] == "call")
        }
    }

    @Test func aShutdownCanBeRequestedTwiceAndIsFinal() async throws {
        try await withServer { fixture in
            async let first: Void = fixture.server.shutdown()
            async let second: Void = fixture.server.shutdown()
            _ = await (first, second)
            await #expect(throws: RPCServerError.stopped) { try await fixture.server.start(on: .path(fixture.path)) }
        }
    }
}
