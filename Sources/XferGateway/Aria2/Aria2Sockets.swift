import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import XferAria2
import XferModel
import XferProtocol

/// The WebSockets at aria2's path. Their clients authenticate with each call, and are notified of the downloads of each
/// token that they have sent.
///
/// A WebSocket uses the service's own line protocol; the methods of aria2 are recognised by their names.
final class Aria2Sockets: Sendable {
    private let facade: Aria2Facade
    private let connections: OpenConnections<Int64>
    private let open = NIOLockedValueBox<[UInt64: Aria2Session]>([:])

    init(_ facade: Aria2Facade, _ connections: OpenConnections<Int64>) {
        self.facade = facade
        self.connections = connections
    }

    /// True if a method is aria2's.
    static func isDialect(_ method: String) -> Bool { method.hasPrefix("aria2.") || method.hasPrefix("system.") }

    /// Called when a handshake at aria2's path begins.
    func opened(_ connection: RPCConnection) {
        let session = session(of: connection)
        // One that shows no token is closed as every stranger's connection.
        guard let token = connection.remote.flatMap({ facade.tokens.token($0.tokenID) }) else { return }
        _ = session.connection(for: token)
    }

    /// Answers a call of a WebSocket.
    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        let values: [JSONValue]
        switch params {
        case nil: values = []
        case .array(let given)?: values = given
        default: throw RPCError(Aria2Fault.invalidParams)
        }
        let outcome = await facade.perform(method, values, for: session(of: connection))
        if outcome.isUnauthorized { try? await Task.sleep(for: AccessGate.delay) }
        switch outcome.result {
        case .success(let value): return .value(value)
        case .failure(let fault): throw RPCError(fault)
        }
    }

    private func session(of connection: RPCConnection) -> Aria2Session {
        let (session, isNew) = open.withLockedValue { open in
            if let found = open[connection.id] { return (found, false) }
            let new = notified(connection)
            open[connection.id] = new
            return (new, true)
        }
        if isNew { connection.onClose { [weak self] in self?.forget(connection.id) } }
        return session
    }

    private func forget(_ id: UInt64) { open.withLockedValue { $0[id] = nil } }

    // MARK: Notifications

    /// The highest number of events that wait while a client does not read. Then the oldest are dropped: clients poll
    /// the states anyway.
    private static let maxWaiting = 1024

    private func notified(_ connection: RPCConnection) -> Aria2Session {
        let (events, continuation) = AsyncStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingNewest(Self.maxWaiting))
        connection.onClose { continuation.finish() }
        let clients = NIOLockedValueBox<[UInt32: Aria2Client]>([:])
        let session = Aria2Session(connection, facade.users) { line in
            continuation.yield(line)
            return .accepted
        } onToken: { [facade, connections] token, acting in
            // When the token is revoked, the WebSocket is closed.
            connections.add(acting, for: token.id)
            if facade.tokens.token(token.id) == nil { acting.close() }
            guard token.scope.allows(.read) else { return }
            let client = Aria2Client(facade: facade, connection: acting)
            let isFirst = clients.withLockedValue { $0.updateValue(client, forKey: token.user.userID) == nil }
            // Tokens of one user see the same downloads.
            if isFirst { Task { await client.subscribe() } }
        }
        Task {
            for await line in events {
                guard let event = Self.event(line), let notification = Aria2Notification(event), let id = event.taskID,
                    let client = clients.withLockedValue({ $0[event.owner?.rawValue ?? .max] }),
                    let status = try? await client.download(id, .keys)
                else { continue }
                let params: JSONValue = [["gid": .string(status.gid.description)]]
                while connection.notify(notification.rawValue, params: params) == .full {
                    guard await connection.whenWritable() else { return }
                }
            }
        }
        return session
    }

    /// The event in a line of the service's own dialect.
    private static func event(_ line: [UInt8]) -> EventMessage? {
        guard let message = try? JSONValue(parsing: line), let params = message["params"] else { return nil }
        return try? EventMessage(lenient: params)
    }
}

extension Aria2Client {
    /// Subscribes to the events that become notifications. A token that may not read gets none.
    func subscribe() async {
        _ = try? await attempt(EventsSubscribe.self, EventsSubscribe.Params(types: Aria2Notification.events))
    }
}

extension RPCError {
    init(_ fault: Aria2Fault) { self.init(Int(clamping: fault.code), fault.message) }
}

/// The service of a listener: the scoped one, with the methods of aria2 in addition.
struct DialectService: RPCService {
    let scoped: ScopedService
    let aria2: Aria2Sockets

    func refusal(of peer: PeerCredentials) -> RPCError? { scoped.refusal(of: peer) }

    func isPrivileged(_ peer: PeerCredentials) -> Bool { scoped.isPrivileged(peer) }

    func isBulk(_ method: String) -> Bool { scoped.isBulk(method) }

    func isWaiting(_ method: String) -> Bool { scoped.isWaiting(method) }

    func hasLongAnswer(_ method: String) -> Bool { scoped.hasLongAnswer(method) }

    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        // Over POST each dialect has its path; on a WebSocket methods are distinguished by their names.
        guard Aria2Sockets.isDialect(method), connection.canNotify else {
            return try await scoped.respond(to: method, params: params, on: connection)
        }
        return try await aria2.respond(to: method, params: params, on: connection)
    }
}
