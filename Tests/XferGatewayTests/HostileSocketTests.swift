import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferTestSupport

@testable import XferGateway

/// WebSockets of clients that break the protocol or take more than their share.
struct HostileSocketTests {
    private static let call = #"{"jsonrpc":"2.0","id":1,"method":"task.list"}"#

    @Test func anUnmaskedFrameEndsTheSocketWithAProtocolError() async throws {
        try await GatewayWorld.with { world in
            let client = try await WebSocketClient.open(world, token: "own")
            let text = Array(Self.call.utf8)
            try client.socket.send([0x81, UInt8(clamping: text.count)] + text)
            #expect(try await client.closeCode() == 1002)
        }
    }

    @Test func reservedBitsEndTheSocketWithAProtocolError() async throws {
        try await GatewayWorld.with { world in
            for bit: UInt8 in [0x40, 0x20, 0x10] {
                let client = try await WebSocketClient.open(world, token: "own")
                try client.send(opcode: 1, Array(Self.call.utf8), reserved: bit)
                #expect(try await client.closeCode() == 1002)
            }
        }
    }

    @Test(arguments: [3, 7, 11, 15] as [UInt8])
    func anUnknownOpcodeEndsTheSocketWithAProtocolError(opcode: UInt8) async throws {
        try await GatewayWorld.with { world in
            let client = try await WebSocketClient.open(world, token: "own")
            try client.send(opcode: opcode, Array(Self.call.utf8))
            #expect(try await client.closeCode() == 1002)
        }
    }

    @Test func aMessageWithinAnotherOneIsAProtocolError() async throws {
        try await GatewayWorld.with { world in
            let client = try await WebSocketClient.open(world, token: "own")
            try client.send(opcode: 1, [0x20], isFinal: false)
            try client.send(opcode: 1, [0x20])
            #expect(try await client.closeCode() == 1002)
            let other = try await WebSocketClient.open(world, token: "own")
            try other.send(opcode: 0, [0x20])
            #expect(try await other.closeCode() == 1002)
        }
    }

    @Test func aFrameAndAMessageThatAreNotEndedInTimeEndTheSocket() async throws {
        var limits = GatewayWorld.patientLimits
        limits.requestTime = .milliseconds(300)
        try await GatewayWorld.with(limits: limits) { world in
            // The head of a frame, a head without its data, and a message without its last fragment.
            for bytes: [UInt8] in [[0x81], [0x81, 0x85, 1, 2, 3, 4], [0x01, 0x81, 1, 2, 3, 4, 0x20 ^ 1]] {
                let client = try await WebSocketClient.open(world, token: "own")
                try client.socket.send(bytes)
                #expect(try await client.text().contains("request_timeout"), "\(bytes)")
                #expect(try await client.closeCode() == 1001)
            }
        }
    }

    @Test func pingsWithinAMessageDoNotExtendItsTime() async throws {
        var limits = GatewayWorld.patientLimits
        limits.requestTime = .milliseconds(300)
        try await GatewayWorld.with(limits: limits) { world in
            let client = try await WebSocketClient.open(world, token: "own")
            try client.send(opcode: 1, [0x20], isFinal: false)
            let pinging = Task {
                while !Task.isCancelled {
                    guard (try? client.send(opcode: 9, [])) != nil else { return }
                    // Sleeps: pings have to come more often than the time of a request, which is real.
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(try await client.closeCode() == 1001)
            pinging.cancel()
        }
    }

    @Test func aSocketThatWaitsBetweenMessagesStaysOpen() async throws {
        var limits = GatewayWorld.patientLimits
        limits.requestTime = .milliseconds(200)
        try await GatewayWorld.with(limits: limits) { world in
            let client = try await WebSocketClient.open(world, token: "own")
            for _ in 0..<2 {
                try client.send(Self.call)
                #expect(try await client.text().contains("task.list"))
                // Sleeps: a silence longer than the time of a request, which is real, is the subject.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    @Test func aSocketThatReadsNothingBeginsNoMoreCalls() async throws {
        let service = LongAnswers()
        let world = try await GatewayWorld(service: service)
        let client = try await WebSocketClient.open(world, token: "own")
        let socket = client.socket
        let sending = Task.detached {
            for _ in 0..<2000 { try client.send(Self.call) }
        }
        // Once another client has been answered many times, the first would have been, too.
        for _ in 0..<50 { _ = try await world.exchange(GatewayWorld.get("/healthz", token: nil)) }
        let begun = service.count.withLockedValue { $0 }
        #expect(begun < 200, "each answer has 64 KiB, of which the system's buffers take a few MiB")
        await world.gateway.shutdown(grace: .zero)
        _ = await sending.result
        _ = socket
    }

    @Test func aRevokedTokenEndsTheWebSocketThatShowedItInACall() async throws {
        try await GatewayWorld.with { world in
            let client = try await WebSocketClient.open(world, path: "/jsonrpc", token: nil)
            try client.send(#"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion","params":["token:own"]}"#)
            #expect(try await client.text().contains("version"))
            world.gateway.revoke(tokenID: world.tokens.remove(.own))
            #expect(try await client.closeCode() == 1001)
        }
    }

    @Test func aUserHasNoMoreConnectionsThanOnTheUnixSocket() async throws {
        var limits = GatewayWorld.patientLimits
        limits.clientsPerUser = 2
        try await GatewayWorld.with(limits: limits) { world in
            var open = [
                try await WebSocketClient.open(world, token: "own"),
                try await WebSocketClient.open(world, path: "/jsonrpc", token: "read"),
            ]
            let refused = try await world.exchange(GatewayWorld.post("task.list", token: "operate"))
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("this user has 2"), "\(refused)")
            let late = try await WebSocketClient.open(world, path: "/jsonrpc", token: nil)
            try late.send(#"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion","params":["token:add"]}"#)
            #expect(try await late.text().contains("this user has 2"))
            #expect(try await world.exchange(GatewayWorld.get("/healthz", token: nil)).hasPrefix("HTTP/1.1 200 "))
            #expect(world.refusals.withLockedValue { $0[.tooManyClients] } == 2)
            open.removeLast()
            try await eventually("a place is free") {
                try await world.exchange(GatewayWorld.post("task.list", token: "own")).hasPrefix("HTTP/1.1 200 ")
            }
        }
    }

    @Test func anOperatorsTokenIsNotCountedIfItHasTheRights() async throws {
        var limits = GatewayWorld.patientLimits
        limits.clientsPerUser = 1
        let world = try await GatewayWorld(limits: limits, service: LongAnswers(isPrivileged: true))
        let first = try await WebSocketClient.open(world, token: "own")
        #expect(try await world.exchange(GatewayWorld.get("/metrics", token: "operate")).hasPrefix("HTTP/1.1 200 "))
        #expect(try await world.exchange(GatewayWorld.get("/metrics", token: "own")).hasPrefix("HTTP/1.1 503 "))
        _ = first
        await world.gateway.shutdown(grace: .zero)
    }
}

/// Answers each call with 64 KiB.
private final class LongAnswers: RPCService {
    let count = NIOLockedValueBox(0)
    private let hasRights: Bool

    init(isPrivileged: Bool = false) { hasRights = isPrivileged }

    func isPrivileged(_ peer: PeerCredentials) -> Bool { hasRights }

    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        count.withLockedValue { $0 += 1 }
        return .value(.string(String(repeating: "x", count: 64 << 10)))
    }
}
