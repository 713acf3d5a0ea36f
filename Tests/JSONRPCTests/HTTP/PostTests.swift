import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct PostTests {
    private static func post(_ body: String, headers: String = "") -> String {
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test func aPOSTWithOneMessageIsAnsweredAndTheConnectionKept() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            for id in 1...3 {
                let answer = try await client.exchange(
                    Self.post(#"{"jsonrpc":"2.0","method":"echo","params":["é"],"id":\#(id)}"#))
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == "application/json")
                #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
                #expect(answer.json == ["jsonrpc": "2.0", "result": ["é"], "id": .integer(Int64(id))])
            }
            #expect(fixture.server.clientCount == 1)
        }
    }

    @Test func aPOSTWithABatchIsAnsweredWithABatch() async throws {
        try await withServer { fixture in
            let body = #"[{"jsonrpc":"2.0","method":"echo","id":1},{"jsonrpc":"2.0","method":"nowhere","id":2}]"#
            let answer = try await fixture.connect().exchange(Self.post(body))
            #expect(answer.status == 200)
            #expect(answer.json?.arrayValue?.map { $0["id"] } == [1, 2])
        }
    }

    @Test func aPOSTWithANotificationIsAnsweredWithoutABody() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let answer = try await client.exchange(Self.post(#"{"jsonrpc":"2.0","method":"echo"}"#))
            #expect(answer.status == 204)
            #expect(answer.headers["content-length"] == nil)
            #expect(answer.headers["transfer-encoding"] == nil)
            #expect(try await client.exchange(Self.post(#"{"jsonrpc":"2.0","method":"echo","id":1}"#)).status == 200)
            #expect(fixture.service.begun == ["echo", "echo"])
        }
    }

    @Test(arguments: [("{", -32700), ("", -32700), ("[]", -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600)])
    func aPOSTThatIsNoRequestIsAnswered400(body: String, code: Int64) async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let answer = try await client.exchange(Self.post(body))
            #expect(answer.status == 400)
            #expect(answer.json?["error"]?["code"] == .integer(code))
            #expect(try await client.exchange(Self.post(#"{"jsonrpc":"2.0","method":"echo","id":1}"#)).status == 200)
        }
    }

    @Test(arguments: ["application/json", "application/x-www-form-urlencoded", "text/plain", ""])
    func aPOSTOfAnyContentTypeIsAccepted(type: String) async throws {
        try await withServer { fixture in
            let body = #"{"jsonrpc":"2.0","method":"echo","id":1}"#
            let answer = try await fixture.connect().exchange(Self.post(body, headers: "Content-Type: \(type)\r\n"))
            #expect(answer.status == 200)
        }
    }

    @Test func aPOSTWithAChunkedBodyIsAnswered() async throws {
        try await withServer { fixture in
            let answer = try await fixture.connect().exchange(
                "POST /rpc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "14\r\n{\"jsonrpc\":\"2.0\",\"me\r\n14\r\nthod\":\"echo\",\"id\":1}\r\n0\r\n\r\n")
            #expect(answer.json?["id"] == 1)
        }
    }

    /// RFC 9112 §6.1: the framing of these is faulty, or of a coding that is not known here.
    @Test(arguments: [
        ("1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", 400),
        ("1.1", "Transfer-Encoding: gzip, chunked\r\n", 501), ("1.1", "Transfer-Encoding: chunked, chunked\r\n", 400),
        ("1.1", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501),
    ])
    func aRequestWhoseEndIsUncertainIsRefusedAndTheConnectionClosed(
        version: String, fields: String, status: Int
    ) async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send("POST /rpc HTTP/\(version)\r\n\(fields)\r\n0\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer.status == status && answer.headers["connection"] == "close")
            #expect(try await client.readToEnd() == "")
        }
    }

    @Test func pipelinedPOSTsAreAnsweredInOrder() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let requests = (0..<50).map {
                Self.post(#"{"jsonrpc":"2.0","method":"\#($0 % 2 == 0 ? "linger" : "echo")","id":\#($0)}"#)
            }
            try await client.send(requests.joined())
            for id in 0..<50 { #expect(try await client.answer().json?["id"] == .integer(Int64(id))) }
        }
    }

    @Test func aPOSTWithExpectContinueGetsAnInterimResponse() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            let body = #"{"jsonrpc":"2.0","method":"echo","id":1}"#
            try await client.send(
                "POST /rpc HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await client.head().status == 100)
            #expect(try await client.exchange(body).status == 200)
        }
    }

    @Test(arguments: [
        "Content-Length: 2001\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7d1\r\n",
        "Content-Length: 2001\r\nExpect: 100-continue\r\n\r\n",
    ])
    func aPOSTBodyBeyondTheLimitIsRefused(framing: String) async throws {
        try await withServer(.with { $0.messageBytes = 2_000 }) { fixture in
            let client = try fixture.connect()
            try await client.send("POST /rpc HTTP/1.1\r\n\(framing)")
            if !framing.contains("Expect") { try await client.send([UInt8](repeating: 0x20, count: 2_001)) }
            let answer = try await client.answer()
            #expect(answer.status == 413)
            #expect(answer.headers["connection"] == "close")
            #expect(answer.json?["error"]?["data"] == ["reason": "message_too_large", "limit": 2_000])
            #expect(try await client.readToEnd() == "")
        }
    }

    @Test func aCallOverHTTPCannotSendNotifications() async throws {
        try await withServer { fixture in
            let body = #"{"jsonrpc":"2.0","method":"notify","params":{"count":1},"id":1}"#
            let answer = try await fixture.connect().exchange(Self.post(body))
            #expect(answer.json?["result"] == "unavailable")
        }
    }

    @Test func aPOSTWhoseClientDisconnectsIsCancelled() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(Self.post(#"{"jsonrpc":"2.0","method":"hold","id":1}"#))
            await fixture.service.gate.arrived()
            client.disconnect()
            try await eventually("the call was cancelled") { fixture.service.cancelled == 1 }
        }
    }

    @Test func aPOSTFromAHalfClosedConnectionIsAnswered() async throws {
        try await withServer { fixture in
            let client = try fixture.connect()
            try await client.send(Self.post(#"{"jsonrpc":"2.0","method":"hold","id":1}"#))
            client.finishSending()
            await fixture.service.gate.arrived()
            fixture.service.gate.open()
            #expect(try await client.answer().json?["result"] == "held")
            #expect(try await client.readToEnd() == "")
        }
    }
}
