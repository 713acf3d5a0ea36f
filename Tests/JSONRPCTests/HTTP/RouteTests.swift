import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct RouteTests {
    private static let routes = [
        HTTPRoute("/healthz") { _, _ in .text("ok\n") },
        HTTPRoute("/gone") { _, _ in
            HTTPAnswer(
                status: 410, contentType: "application/json",
                headers: [("Cache-Control", "max-age=5"), ("X-Extra", "1")],
                body: .bytes(Array("{}".utf8)))
        },
        HTTPRoute("/mirror") { request, connection in
            let fields = [
                request.method, request.path, request.query ?? "none", request.header("last-event-id") ?? "none",
                String(connection.peer.userID),
            ]
            return .text(fields.joined(separator: " "))
        },
        HTTPRoute("/stream") { _, _ in
            HTTPAnswer(contentType: "text/event-stream", body: .stream(Chunks(["a", "", "b"])))
        },
    ]

    @Test func aRouteAnswersWithStatusHeadersAndBody() async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            let healthy = try await client.exchange("GET /healthz HTTP/1.1\r\n\r\n")
            #expect(healthy.status == 200)
            #expect(healthy.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(healthy.headers["cache-control"] == "no-store")
            #expect(healthy.body == "ok\n")
            let gone = try await client.exchange("GET /gone HTTP/1.1\r\n\r\n")
            #expect(gone.status == 410)
            #expect(gone.headers["cache-control"] == "max-age=5")
            #expect(gone.headers["x-extra"] == "1")
        }
    }

    @Test func aRouteReceivesMethodPathQueryHeadersAndPeer() async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            let full = try await client.exchange("GET /mirror?a=b%20c?d HTTP/1.1\r\nLAST-Event-ID: 17\r\n\r\n")
            #expect(full.body == "GET /mirror a=b%20c?d 17 \(CurrentProcess.userID)")
            #expect(try await client.exchange("GET /mirror HTTP/1.1\r\n\r\n").body.hasPrefix("GET /mirror none none"))
        }
    }

    @Test func aHEADRequestIsAnsweredWithoutABody() async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            let head = try await client.exchange("HEAD /healthz HTTP/1.1\r\n\r\n", hasBody: false)
            #expect(head.status == 200)
            #expect(head.headers["content-length"] == "3")
            let stream = try await client.exchange("HEAD /stream HTTP/1.1\r\n\r\n", hasBody: false)
            #expect(stream.headers["content-type"] == "text/event-stream")
            // Nothing of a body may stand before the next answer.
            #expect(try await client.exchange("GET /healthz HTTP/1.1\r\n\r\n").body == "ok\n")
        }
    }

    @Test(arguments: [
        ("GET /rpc", 405, "POST"), ("DELETE /rpc", 405, "POST"), ("DELETE /healthz", 405, "GET, HEAD"),
        ("GET /", 404, nil),
        ("GET /healthz/", 404, nil), ("PUT /nowhere", 404, nil),
    ])
    func anUnknownPathOrMethodIsRefused(request: String, status: Int, allowed: String?) async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            let answer = try await client.exchange("\(request) HTTP/1.1\r\n\r\n")
            #expect(answer.status == status)
            #expect(answer.headers["allow"] == allowed)
            #expect(try await client.exchange("GET /healthz HTTP/1.1\r\n\r\n").status == 200)
        }
    }

    @Test func anUnreadRequestBodyIsRefusedAndTheConnectionClosed() async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            try await client.send("PUT /healthz HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
            try await client.send([UInt8](repeating: 0x20, count: 1_000_000))
            let answer = try await client.answer()
            #expect(answer.status == 405)
            #expect(answer.headers["connection"] == "close")
            #expect(try await client.readToEnd() == "")
        }
    }

    @Test(arguments: ["GET /healthz", "POST /rpc"])
    func requestsFromWebPagesAreRefused(request: String) async throws {
        try await withServer(routes: Self.routes) { fixture in
            let body = #"{"jsonrpc":"2.0","method":"echo","id":1}"#
            let answer = try await fixture.connect().exchange(
                "\(request) HTTP/1.1\r\nOrigin: http://example.com\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(answer.status == 403)
            #expect(fixture.service.begun.isEmpty)
        }
    }

    @Test func requestHeadersBeyondTheLimitsAreRefused() async throws {
        let limits = RPCLimits.with {
            $0.headerBytes = 2_000
            $0.headerFields = 10
        }
        try await withServer(limits, routes: Self.routes) { fixture in
            let long = "X: \(String(repeating: "x", count: 3_000))\r\n"
            let many = (0..<11).map { "X-\($0): 1\r\n" }.joined()
            let spread = (0..<9).map { "X-\($0): \(String(repeating: "x", count: 300))\r\n" }.joined()
            for headers in [long, many, spread] {
                let client = try fixture.connect()
                let answer = try await client.exchange("GET /healthz HTTP/1.1\r\n\(headers)\r\n")
                #expect(answer.status == 431)
                #expect(try await client.readToEnd() == "")
            }
            let client = try fixture.connect()
            try await client.send("GET /\(String(repeating: "x", count: 3_000)) HTTP/1.1\r\n\r\n")
            #expect(try await client.answer().status == 431)
        }
    }

    @Test(arguments: ["hello", "\u{16}\u{3}\u{1}", "GET /healthz HTTP/9.9", "GET"])
    func aLineThatIsNotHTTPIsAnswered400(line: String) async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            #expect(try await client.exchange(line + "\r\n\r\n").status == 400)
            #expect(try await client.readToEnd() == "")
        }
    }

    @Test func theConnectionIsClosedOnRequestAndForOldClients() async throws {
        try await withServer(routes: Self.routes) { fixture in
            let asking = try fixture.connect()
            let last = try await asking.exchange("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(last.headers["connection"] == "close")
            #expect(try await asking.readToEnd() == "")

            let old = try fixture.connect()
            #expect(try await old.exchange("GET /healthz HTTP/1.0\r\n\r\n").body == "ok\n")
            #expect(try await old.readToEnd() == "")

            let kept = try fixture.connect()
            let request = "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
            #expect(try await kept.exchange(request).headers["connection"] == "keep-alive")
            #expect(try await kept.exchange(request).body == "ok\n")
        }
    }

    /// As `curl --http2` asks over clear text.
    @Test func aRequestToUpgradeTheProtocolIsAnsweredAsHTTP() async throws {
        try await withServer(routes: Self.routes) { fixture in
            let client = try fixture.connect()
            let upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
            let body = #"{"jsonrpc":"2.0","method":"echo","id":1}"#
            let answer = try await client.exchange(
                "POST /rpc HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\(upgrade)\r\n\(body)")
            #expect(answer.status == 200)
            #expect(try await client.readToEnd() == "")
            #expect(try await fixture.connect().exchange("GET /healthz HTTP/1.1\r\n\(upgrade)\r\n").status == 200)
        }
    }

    @Test func clientsThatDisconnectInTheMiddleDoNotHarmTheServer() async throws {
        try await withServer(routes: Self.routes) { fixture in
            for text in ["G", "POST /rpc HTTP/1.1\r\nContent-Le", "POST /rpc HTTP/1.1\r\nContent-Length: 10\r\n\r\n{"] {
                let client = try fixture.connect()
                try await client.send(text)
                client.finishSending()
                #expect(try await !client.readToEnd().contains("200 OK"))
            }
            try await eventually("all have left") { fixture.server.clientCount == 0 }
            #expect(fixture.service.begun.isEmpty)
            #expect(try await fixture.connect().exchange("GET /healthz HTTP/1.1\r\n\r\n").status == 200)
        }
    }
}
