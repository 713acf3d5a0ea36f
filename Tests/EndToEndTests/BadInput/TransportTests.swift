import StrictJSON
import Testing
import XferTestSupport

/// What arrives on the socket and is no proper message.
@Suite struct TransportTests {
    /// Sends bytes on a new connection and gives the first answer's error code.
    private func code(_ daemon: DaemonFixture, _ bytes: [UInt8]) async throws -> Int64? {
        let socket = try UnixSocket(connectedTo: daemon.socket)
        try await socket.send(bytes)
        guard let line = try await socket.readLine() else { return nil }
        return try JSONValue(parsing: Array(line.utf8))["error"]?["code"]?.integerValue
    }

    @Test func brokenMessagesAreAnsweredWithErrorsAndTheDaemonGoesOn() async throws {
        try await withDaemon { daemon in
            #expect(try await code(daemon, Array("{\"jsonrpc\": \n".utf8)) == -32700)
            #expect(try await code(daemon, Array("{}\n".utf8)) == -32600)
            #expect(try await code(daemon, Array("[]\n".utf8)) == -32600)
            #expect(
                try await code(daemon, Array("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"queue.stats\"}\n".utf8))
                    == -32600)
            #expect(try await code(daemon, Array("{\"id\":1,\"id\":2}\n".utf8)) == -32700)
            #expect(try await code(daemon, Array("{\"a\":\"".utf8) + [0xff, 0xfe] + Array("\"}\n".utf8)) == -32700)
            let deep = try await code(daemon, Array((String(repeating: "[", count: 100_000) + "\n").utf8))
            #expect(deep == -32600 || deep == -32700)
            _ = try await daemon.call("daemon.status")
        }
    }

    @Test func aTooLongLineIsRefusedAndTheConnectionClosed() async throws {
        try await withDaemon { daemon in
            let socket = try UnixSocket(connectedTo: daemon.socket)
            let line = Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"".utf8)
            // The daemon may close while we still send.
            try? await socket.send(line + [UInt8](repeating: 0x61, count: 10 << 20) + Array("\"}}\n".utf8))
            let answer = try await socket.readToEnd()
            #expect(answer.contains("-32600"), "\(answer.prefix(500))")
            _ = try await daemon.call("daemon.status")
        }
    }

    @Test func aClientThatDisconnectsInTheMiddleOfALineChangesNothing() async throws {
        try await withDaemon { daemon in
            for text in [
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", "{", "", "POST /rpc HTTP/1.1\r\nContent-Length: 99\r\n\r\n{",
            ] {
                let socket = try UnixSocket(connectedTo: daemon.socket)
                try await socket.send(text)
                socket.disconnect()
            }
            #expect(try await daemon.call("task.list")["tasks"]?.arrayValue == [])
        }
    }

    /// Answers and events fill the socket of a client that is gone: writing to it fails in the middle of things.
    @Test func clientsThatDisconnectWithoutReadingDoNotHarmTheDaemon() async throws {
        try await withDaemon { daemon in
            let call = #"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"since":0}}"# + "\n"
            for round in 0..<300 {
                let socket = try UnixSocket(connectedTo: daemon.socket)
                try await socket.send(String(repeating: call, count: 1 + round % 3))
            }
            #expect(try await daemon.call("daemon.status")["degraded"] == false)
        }
    }

    @Test func aCompleteLastLineWithoutALineEndIsAnswered() async throws {
        try await withDaemon { daemon in
            let socket = try UnixSocket(connectedTo: daemon.socket)
            try await socket.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"queue.stats\"}")
            socket.finishSending()
            #expect(try await socket.readToEnd().contains("\"result\""))
        }
    }

    @Test func anAddWhoseClientDisconnectsIsCarriedOut() async throws {
        try await withDaemon { daemon in
            let socket = try UnixSocket(connectedTo: daemon.socket)
            let params = "{\"url\":\"http://127.0.0.1:9/\",\"paused\":true}"
            try await socket.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"task.add\",\"params\":\(params)}\n")
            socket.disconnect()
            try await eventually("added") { try await daemon.call("task.list")["tasks"]?.arrayValue?.count == 1 }
        }
    }

    @Test func pipelinedRequestsAndBatchesAreAllAnswered() async throws {
        try await withDaemon { daemon in
            let session = try daemon.session()
            let answers = try await withThrowingTaskGroup { group in
                for _ in 0..<200 { group.addTask { try await session.call("queue.stats") } }
                return try await group.reduce(into: 0) { count, _ in count += 1 }
            }
            #expect(answers == 200)
            let socket = try UnixSocket(connectedTo: daemon.socket)
            let one = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"queue.stats\"}"
            try await socket.send("[\(one),{\"jsonrpc\":\"2.0\",\"method\":\"queue.stats\"},1]\n")
            let line = try #require(try await socket.readLine())
            let batch = try #require(try JSONValue(parsing: Array(line.utf8)).arrayValue)
            #expect(batch.count == 2)
        }
    }

    @Test func httpRequestsAreAnsweredOnTheUnixSocket() async throws {
        try await withDaemon { daemon in
            func ask(_ request: String) async throws -> String {
                let socket = try UnixSocket(connectedTo: daemon.socket)
                try await socket.send(request)
                return try await socket.readToEnd()
            }
            let body = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"queue.stats\"}"
            let close = "Host: localhost\r\nConnection: close\r\n"
            let type = "Content-Type: application/json\r\n"
            let answer = try await ask(
                "POST /rpc HTTP/1.1\r\n\(close)\(type)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            #expect(answer.contains("\"id\":7") && answer.contains("\"result\""))
            #expect(try await ask("GET /healthz HTTP/1.1\r\n\(close)\r\n").hasPrefix("HTTP/1.1 200"))
            #expect(try await ask("GET /metrics HTTP/1.1\r\n\(close)\r\n").contains("# TYPE"))
            #expect(try await ask("GET /openrpc.json HTTP/1.1\r\n\(close)\r\n").contains("\"openrpc\""))
            #expect(try await ask("GET /nothing HTTP/1.1\r\n\(close)\r\n").hasPrefix("HTTP/1.1 404"))
            #expect(try await ask("DELETE /rpc HTTP/1.1\r\n\(close)\r\n").hasPrefix("HTTP/1.1 405"))
        }
    }
}
