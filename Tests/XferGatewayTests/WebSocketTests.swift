import JSONRPC
import StrictJSON
import Testing
import XferModel
import XferTestSupport

@testable import XferGateway

/// WebSockets, frame by frame (RFC 6455).
struct WebSocketTests {
    /// Opens a WebSocket; throws unless it is accepted.
    private func open(_ world: GatewayWorld, token: String = "own") async throws -> WebSocketClient {
        try await WebSocketClient.open(world, token: token)
    }

    private static func call(_ method: String, id: Int) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"}"#
    }

    @Test func callsAreAnsweredAndNotificationsArrive() async throws {
        try await GatewayWorld.with { world in
            let client = try await open(world)
            try client.send(Self.call("task.list", id: 1))
            #expect(try await client.text().contains(#""method":"task.list","uid":1000"#))
            try client.send("{\n \"jsonrpc\": \"2.0\",\n \"id\": 2, \"method\": \"events.subscribe\"\n}")
            #expect(try await client.text().hasSuffix(#""id":2}"#))
            #expect(try await client.text() == #"{"jsonrpc":"2.0","method":"event","params":{"seq":1}}"#)
        }
    }

    @Test func theScopeIsEnforced() async throws {
        try await GatewayWorld.with { world in
            let client = try await open(world, token: "add")
            try client.send(Self.call("task.remove", id: 1))
            #expect(try await client.text().contains(#""reason":"scope""#))
        }
    }

    @Test func fragmentsAreJoinedAndPingsAnswered() async throws {
        try await GatewayWorld.with { world in
            let client = try await open(world)
            let text = Array(Self.call("task.list", id: 1).utf8)
            try client.send(opcode: 1, Array(text[..<10]), isFinal: false)
            try client.send(opcode: 9, Array("hello".utf8))
            try client.send(opcode: 0, Array(text[10...]))
            let pong = try await client.frame()
            #expect(pong.opcode == 10 && pong.data == Array("hello".utf8))
            #expect(try await client.text().contains("task.list"))
        }
    }

    @Test func aHandshakeWithoutATokenOrOfAForeignPageIsRefused() async throws {
        try await GatewayWorld.with { world in
            for (token, fields, status) in [
                (nil, "", "401"), ("own", "Origin: https://evil.example\r\n", "403"), ("metrics", "", "403"),
            ] as [(String?, String, String)] {
                let socket = try RawSocket(port: world.port)
                try socket.send(WebSocketClient.handshake(token: token, fields: fields))
                let head = try await socket.head()
                #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
            }
            let plain = try await world.exchange(GatewayWorld.get("/ws", token: "own"))
            #expect(plain.hasPrefix("HTTP/1.1 426 "), "\(plain)")
        }
    }

    @Test func aRevokedTokensSocketIsClosed() async throws {
        try await GatewayWorld.with { world in
            let client = try await open(world)
            world.gateway.revoke(tokenID: world.tokens.remove(.own))
            let end = try await client.frame()
            #expect(end.opcode == 8 && end.data == [0x03, 0xE9], "1001, going away")
        }
    }

    @Test func binaryAndOverlongMessagesEndTheSocketWithAReason() async throws {
        var limits = GatewayWorld.patientLimits
        limits.messageBytes = 4096
        try await GatewayWorld.with(limits: limits) { world in
            let binary = try await open(world)
            try binary.send(opcode: 2, [1, 2, 3])
            let first = try await binary.frame()
            #expect(first.opcode == 8 && first.data == [0x03, 0xEB], "1003, unacceptable data")
            let long = try await open(world)
            try long.send(opcode: 1, [UInt8](repeating: 0x20, count: 5000))
            let second = try await long.frame()
            #expect(second.opcode == 8 && second.data == [0x03, 0xF1], "1009, message too large")
            let pieces = try await open(world)
            try pieces.send(opcode: 1, [UInt8](repeating: 0x20, count: 3000), isFinal: false)
            try pieces.send(opcode: 0, [UInt8](repeating: 0x20, count: 3000))
            let third = try await pieces.frame()
            #expect(third.opcode == 8 && third.data == [0x03, 0xF1], "1009, message too large")
        }
    }

    /// A client that sends frames before the handshake is accepted breaks the protocol, and must break nothing else.
    @Test func bytesThatFollowTheHandshakeAtOnceBreakNothing() async throws {
        try await GatewayWorld.with { world in
            let socket = try RawSocket(port: world.port)
            try socket.send(WebSocketClient.handshake(token: "own") + "garbage that is neither HTTP nor a frame")
            _ = try await socket.head()
            let answer = try await world.exchange(GatewayWorld.post("task.list", token: "read"))
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func aHandshakeWithoutKeyAndVersionIsRefused() async throws {
        try await GatewayWorld.with { world in
            let socket = try RawSocket(port: world.port)
            try socket.send(
                "GET /ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer own\r\nConnection: Upgrade\r\n"
                    + "Upgrade: websocket\r\n\r\n")
            #expect(try await socket.head().hasPrefix("HTTP/1.1 400 "))
        }
    }
}
