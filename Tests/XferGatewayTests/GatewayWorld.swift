import JSONRPC
import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferGateway

/// A gateway in front of a service that answers each call with its method.
final class GatewayWorld: Sendable {
    let gateway: Gateway
    let tokens = TokenBox()
    let refusals = NIOLockedValueBox<[GatewayRefusal: Int]>([:])
    let port: Int

    /// The limits of tests whose subject is not how long a client without a token is served: on a busy machine a
    /// request can take longer than that.
    static var patientLimits: RPCLimits {
        var limits = RPCLimits()
        limits.anonymousTime = Patience.seconds(60)
        return limits
    }

    init(
        limits: RPCLimits = GatewayWorld.patientLimits, hosts: [String] = [], origins: [String] = [],
        tls: ListenerConfiguration.TLS? = nil, routes: [HTTPRoute] = [], service: any RPCService = EchoService()
    ) async throws {
        let refusals = refusals
        gateway = Gateway(
            service: service, routes: Self.routes + routes, tokens: tokens, limits: limits,
            turns: RequestTurns(limits), aria2: Aria2Configuration(storeID: "test"),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        ) { why in refusals.withLockedValue { $0[why, default: 0] += 1 } }
        let address = ListenAddress(host: "127.0.0.1", port: 0)
        port = try await gateway.start(
            ListenerConfiguration(address: address, tls: tls, hosts: hosts, origins: origins)
        ).port
    }

    /// Runs `body` with a gateway, which is shut down afterwards.
    static func with(
        limits: RPCLimits = GatewayWorld.patientLimits, hosts: [String] = [], origins: [String] = [],
        _ body: (GatewayWorld) async throws -> Void
    ) async throws {
        let world = try await GatewayWorld(limits: limits, hosts: hosts, origins: origins)
        do {
            try await body(world)
        } catch {
            await world.gateway.shutdown(grace: .zero)
            throw error
        }
        await world.gateway.shutdown(grace: .zero)
    }

    private static let routes = [
        HTTPRoute("/healthz") { _, _ in .text("ok\n") },
        HTTPRoute("/metrics") { _, _ in .text("metrics\n") },
        HTTPRoute(below: "/files/") { request, _ in .text("the file \(request.path)\n") },
        HTTPRoute("/events") { _, connection in
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
            continuation.yield(Array(": begun\n\n".utf8))
            connection.onClose { continuation.finish() }
            return HTTPAnswer(contentType: "text/event-stream", body: .stream(stream))
        },
    ]

    /// The answer to a request on a connection of its own.
    func exchange(_ request: String, port: Int? = nil) async throws -> String {
        let port = port ?? self.port
        return try await offThread {
            let socket = try RawSocket(port: port)
            try socket.send(request)
            return try socket.readToEnd()
        }
    }

    /// The text of a `POST /rpc`.
    static func post(
        _ method: String, token: String?, host: String = "localhost", params: JSONValue = [:], fields: String = ""
    ) -> String {
        let message: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "POST /rpc HTTP/1.1\r\nHost: \(host)\r\n\(authorization)\(fields)Connection: close\r\n"
            + "Content-Length: \(message.text.utf8.count)\r\n\r\n\(message.text)"
    }

    static func get(_ path: String, token: String?, fields: String = "", method: String = "GET") -> String {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(authorization)\(fields)Connection: close\r\n\r\n"
    }
}

/// Tokens named after their scopes.
final class TokenBox: TokenDirectory {
    private let valid = NIOLockedValueBox<[String: GatewayToken]>([:])

    init() {
        let user = PeerCredentials(processID: 0, userID: 1000, groupID: 1000)
        for (index, scope) in TokenScope.allCases.enumerated() {
            let token = GatewayToken(
                id: Int64(clamping: index + 1), name: scope.rawValue, user: user, scope: scope)
            valid.withLockedValue { $0[scope.rawValue] = token }
        }
    }

    func remove(_ scope: TokenScope) -> Int64 {
        valid.withLockedValue { $0.removeValue(forKey: scope.rawValue)?.id ?? 0 }
    }

    func token(for text: String) -> GatewayToken? { valid.withLockedValue { $0[text] } }
    func token(_ id: Int64) -> GatewayToken? { valid.withLockedValue { $0.values.first { $0.id == id } } }
}

/// Answers each method with its name and the caller's uid; `notify` sends a notification as well.
struct EchoService: RPCService {
    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        if method == "events.subscribe" {
            RPCConnection.afterAnswer { connection.notify("event", params: ["seq": 1]) }
        }
        return .value(["method": .string(method), "uid": .integer(Int64(connection.peer.userID))])
    }
}
