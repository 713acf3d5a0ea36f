import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferGateway

/// A real listener, asked by clients that write their own bytes.
struct GatewayTests {
    @Test func aCallWithAValidTokenIsAnsweredAsItsUser() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.exchange(GatewayWorld.post("task.list", token: "read"))
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
            #expect(answer.hasSuffix(#"{"jsonrpc":"2.0","result":{"method":"task.list","uid":1000},"id":1}"# + "\n"))
        }
    }

    @Test func aWrongTokenIsAnsweredAfterASecond() async throws {
        try await GatewayWorld.with { world in
            let begin = ContinuousClock.now
            let answer = try await world.exchange(GatewayWorld.post("task.list", token: "guess"))
            #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            #expect(answer.contains("WWW-Authenticate: Bearer error=\"invalid_token\"\r\n"))
            #expect(ContinuousClock.now - begin >= .seconds(1))
            #expect(world.refusals.withLockedValue { $0 } == [.wrongToken: 1])
        }
    }

    @Test func aRequestWithTwoTokensIsRefused() async throws {
        try await GatewayWorld.with { world in
            for second in ["read", "guess"] {
                let request = GatewayWorld.get("/events", token: "read", fields: "Authorization: Bearer \(second)\r\n")
                let answer = try await world.exchange(request)
                #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            }
        }
    }

    /// The service tells connections by their ids: two with one id would act with each other's rights.
    @Test func connectionsOfTwoListenersHaveDifferentIDs() async throws {
        let ids = NIOLockedValueBox<[UInt64]>([])
        let route = HTTPRoute("/web/id") { _, connection in
            ids.withLockedValue { $0.append(connection.id) }
            return .text("")
        }
        let world = try await GatewayWorld(routes: [route])
        let other = try await world.gateway.start(
            ListenerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0)))
        for port in [world.port, other.port, world.port, other.port] {
            let request = GatewayWorld.get("/web/id", token: nil)
            #expect(try await world.exchange(request, port: port).hasPrefix("HTTP/1.1 200 "))
        }
        #expect(Set(ids.withLockedValue { $0 }).count == 4)
        await world.gateway.shutdown(grace: .zero)
    }

    @Test func aClientThatReadsNothingIsNotAnsweredOnAndOn() async throws {
        let answered = NIOLockedValueBox(0)
        let route = HTTPRoute("/web/big") { _, _ in
            answered.withLockedValue { $0 += 1 }
            return .text(String(repeating: "x", count: 1 << 20))
        }
        let world = try await GatewayWorld(routes: [route])
        let socket = try RawSocket(port: world.port)
        try socket.send(String(repeating: "GET /web/big HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 200))
        // Once another client has been answered many times, the first would have been, too.
        for _ in 0..<50 { _ = try await world.exchange(GatewayWorld.get("/healthz", token: nil)) }
        #expect(answered.withLockedValue { $0 } < 20)
        await world.gateway.shutdown(grace: .zero)
    }

    @Test func withoutATokenOnlyTheHealthAndThePageAreAnswered() async throws {
        try await GatewayWorld.with { world in
            #expect(try await world.exchange(GatewayWorld.get("/healthz", token: nil)).hasSuffix("\r\n\r\nok\n"))
            let page = try await world.exchange(GatewayWorld.get("/", token: nil))
            #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("script-src 'self'"), "\(page)")
            for path in ["/metrics", "/events", "/ws", "/openrpc.json", "/files/1", "/session", "/none"] {
                let answer = try await world.exchange(GatewayWorld.get(path, token: nil))
                #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(path): \(answer)")
            }
            #expect(try await world.exchange(GatewayWorld.post("task.list", token: nil)).hasPrefix("HTTP/1.1 401 "))
        }
    }

    @Test func everyMethodsScopeIsEnforced() async throws {
        try await GatewayWorld.with { world in
            for scope in TokenScope.allCases {
                for method in MethodRegistry.all {
                    let answer = try await world.exchange(GatewayWorld.post(method.name, token: scope.rawValue))
                    let called: Comment = "\(scope.rawValue) calls \(method.name): \(answer)"
                    if scope == .metrics {
                        #expect(answer.hasPrefix("HTTP/1.1 403 "), called)
                    } else if scope.allows(method.scope) {
                        #expect(answer.contains(#""method":"\#(method.name)""#), called)
                    } else {
                        #expect(answer.contains(#""reason":"scope""#) && answer.contains("-32003"), called)
                    }
                }
            }
        }
    }

    @Test func metricsNeedATokenThatReads() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.exchange(GatewayWorld.get("/metrics", token: "metrics"))
            #expect(answer.hasSuffix("metrics\n"))
            let refused = try await world.exchange(GatewayWorld.get("/metrics", token: "add"))
            #expect(refused.hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test func aRevokedTokensStreamEndsAtOnceAndItsCallsAreRefused() async throws {
        try await GatewayWorld.with { world in
            let socket = try RawSocket(port: world.port)
            try socket.send(GatewayWorld.get("/events", token: "read"))
            try await socket.streamBegins()
            let kept = try RawSocket(port: world.port)
            try kept.send(GatewayWorld.get("/events", token: "own"))
            try await kept.streamBegins()
            world.gateway.revoke(tokenID: world.tokens.remove(.read))
            #expect(try await socket.rest().hasSuffix("0\r\n\r\n") == false)
            let refused = try await world.exchange(GatewayWorld.post("task.list", token: "read"))
            #expect(refused.hasPrefix("HTTP/1.1 401 "))
            #expect(try await world.exchange(GatewayWorld.post("task.list", token: "own")).hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func anExpiredTokensStreamEnds() async throws {
        try await GatewayWorld.with { world in
            let socket = try RawSocket(port: world.port)
            try socket.send(GatewayWorld.get("/events", token: "read"))
            try await socket.streamBegins()
            // The directory no longer knows the token, and nothing tells the gateway: so a token expires.
            _ = world.tokens.remove(.read)
            _ = try await socket.rest()
        }
    }

    @Test func aReboundNameAndAForeignOriginAreRefused() async throws {
        try await GatewayWorld.with(origins: ["https://ui.example"]) { world in
            let rebound = GatewayWorld.post("task.list", token: "own", host: "evil.example:6800")
            #expect(try await world.exchange(rebound).hasPrefix("HTTP/1.1 421 "))
            for origin in ["https://evil.example", "null", "http://localhost:1"] {
                let post = GatewayWorld.post("task.list", token: "own", fields: "Origin: \(origin)\r\n")
                let answer = try await world.exchange(post)
                #expect(answer.hasPrefix("HTTP/1.1 403 ") && !answer.contains("Access-Control"), "\(answer)")
            }
            let fields = "Origin: https://ui.example\r\n"
            let listed = try await world.exchange(GatewayWorld.post("task.list", token: "own", fields: fields))
            #expect(listed.hasPrefix("HTTP/1.1 200 "))
            #expect(listed.contains("Access-Control-Allow-Origin: https://ui.example\r\n"))
            #expect(listed.contains("X-Content-Type-Options: nosniff\r\n"))
            #expect(listed.contains("frame-ancestors 'none'"))
        }
    }

    @Test func onlyListedOriginsGetAPreflightAnswered() async throws {
        try await GatewayWorld.with(origins: ["https://ui.example"]) { world in
            func preflight(_ origin: String) async throws -> String {
                let fields = "Origin: \(origin)\r\nAccess-Control-Request-Method: POST\r\n"
                return try await world.exchange(
                    GatewayWorld.get("/rpc", token: nil, fields: fields, method: "OPTIONS"))
            }
            let allowed = try await preflight("https://ui.example")
            #expect(allowed.hasPrefix("HTTP/1.1 204 "), "\(allowed)")
            #expect(allowed.contains("Access-Control-Allow-Headers: Authorization"))
            #expect(!allowed.contains("Allow-Credentials"))
            #expect(try await preflight("https://evil.example").hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test func noRequestButAPostCallsAMethod() async throws {
        try await GatewayWorld.with { world in
            for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
                let answer = try await world.exchange(GatewayWorld.get("/rpc", token: "operate", method: method))
                #expect(answer.hasPrefix("HTTP/1.1 405 ") || answer.hasPrefix("HTTP/1.1 40"), "\(method): \(answer)")
            }
        }
    }

    @Test func aHeadThatIsTooLargeIsRefused() async throws {
        try await GatewayWorld.with { world in
            let long = String(repeating: "a", count: 40_000)
            let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: \(long)\r\n\r\n"
            let answer = try await world.exchange(request)
            #expect(answer.hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test func aBodyThatIsTooLargeIsRefusedBeforeItIsRead() async throws {
        try await GatewayWorld.with { world in
            let head = "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer own\r\n"
            let answer = try await world.exchange(head + "Content-Length: 99999999\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            let stranger = "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n{"
            #expect(try await world.exchange(stranger).hasPrefix("HTTP/1.1 401 "), "no body of a stranger is awaited")
        }
    }

    @Test func aRequestThatIsSentTooSlowlyEndsAndAnIdleConnectionIsClosed() async throws {
        var limits = GatewayWorld.patientLimits
        limits.requestTime = .milliseconds(300)
        limits.idleTime = .milliseconds(600)
        try await GatewayWorld.with(limits: limits) { world in
            let slow = try RawSocket(port: world.port)
            try slow.send("POST /rpc HTTP/1.1\r\nHo")
            #expect(try await slow.rest().hasPrefix("HTTP/1.1 408 "))
            let silent = try RawSocket(port: world.port)
            #expect(try await silent.rest() == "")
        }
    }

    @Test func moreClientsThanTheLimitAreRefused() async throws {
        var limits = GatewayWorld.patientLimits
        limits.clients = 2
        try await GatewayWorld.with(limits: limits) { world in
            let call = GatewayWorld.post("task.list", token: "own").split(separator: "Connection: close\r\n").joined()
            var sockets: [RawSocket] = []
            for _ in 0..<2 {
                let socket = try RawSocket(port: world.port)
                try socket.send(call)
                #expect(try await socket.head().hasPrefix("HTTP/1.1 200 "))
                sockets.append(socket)
            }
            #expect(try await world.exchange(GatewayWorld.get("/healthz", token: nil)).hasPrefix("HTTP/1.1 503 "))
            withExtendedLifetime(sockets) {}
        }
    }

    @Test func moreStrangersThanTheLimitKeepNoTokenOut() async throws {
        var limits = GatewayWorld.patientLimits
        limits.clients = 8
        try await GatewayWorld.with(limits: limits) { world in
            let strangers = try (0..<20).map { _ in try RawSocket(port: world.port) }
            let answer = try await world.exchange(GatewayWorld.post("task.list", token: "own"))
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            // All of them made room: an address has one place for a stranger, which the client with the token took.
            for stranger in strangers { #expect(try await stranger.rest() == "") }
        }
    }

    @Test func anIdleStrangerIsEnded() async throws {
        var limits = RPCLimits()
        limits.anonymousTime = .milliseconds(100)
        try await GatewayWorld.with(limits: limits) { world in
            #expect(try await RawSocket(port: world.port).rest() == "")
            try await eventually("no connection is left") { world.gateway.clientCount == 0 }
        }
    }

    @Test func aConnectionThatHasShownATokenStaysLongerThanAStranger() async throws {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion","params":["token:own"]}"#
        var limits = RPCLimits()
        limits.anonymousTime = .seconds(1)
        try await GatewayWorld.with(limits: limits) { world in
            // A busy machine may need longer than a stranger's time before the token is shown: then a new client tries.
            let member = try await eventually("a token is shown in time") { () -> WebSocketClient? in
                guard let client = try? await WebSocketClient.open(world, path: "/jsonrpc", token: nil),
                    (try? client.send(call)) != nil, let answer = try? await client.text()
                else { return nil }
                #expect(answer.contains("version"))
                return client
            }
            // This stranger's time begins later than the member's did, so its end shows that both have passed.
            #expect(try await RawSocket(port: world.port).rest() == "")
            try member.send(call)
            #expect(try await member.text().contains("version"))
        }
    }

    @Test func aConnectionServesRequestsOfSeveralTokens() async throws {
        try await GatewayWorld.with { world in
            let socket = try RawSocket(port: world.port)
            for (token, status) in [("read", "200"), ("own", "200"), ("add", "200"), ("metrics", "403")] {
                let request = GatewayWorld.post("task.list", token: token)
                    .split(separator: "Connection: close\r\n").joined()
                try socket.send(request)
                let end = Array("\n".utf8)
                let answer = try await offThread {
                    String(decoding: try socket.read { $0.suffix(1) == end[...] && $0.count > 300 }, as: UTF8.self)
                }
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(token): \(answer)")
                #expect(answer.contains(#""reason":"scope""#) == (token == "add"))
            }
        }
    }
}
