import JSONRPC
import NIOConcurrencyHelpers
import XferAria2
import XferModel

/// The requests, streams and WebSockets that are open for each key: a token's id, a user, or the secret of a browser's
/// session.
final class OpenConnections<Key: Hashable & Sendable>: Sendable {
    private let connections = NIOLockedValueBox<[Key: [UInt64: RPCConnection]]>([:])

    /// Adds a connection until it closes.
    func add(_ connection: RPCConnection, for key: Key) {
        connections.withLockedValue { $0[key, default: [:]][connection.id] = connection }
        connection.onClose { [weak self, id = connection.id] in self?.remove(id, for: key) }
    }

    /// Closes all connections of a key, without sending waiting output.
    func close(_ key: Key) {
        let open = connections.withLockedValue { Array(($0[key] ?? [:]).values) }
        for connection in open { connection.close() }
    }

    /// The keys that have connections.
    var keys: [Key] { connections.withLockedValue { Array($0.keys) } }

    private func remove(_ id: UInt64, for key: Key) {
        connections.withLockedValue { connections in
            connections[key]?[id] = nil
            if connections[key]?.isEmpty == true { connections[key] = nil }
        }
    }
}

/// Limits how many requests, streams and WebSockets of one user are open on all listeners together, as
/// `RPCLimits.clientsPerUser` does on the Unix socket. One whose client has disconnected counts until it has ended
/// (`RPCConnection.onEnd`).
final class UserConnections: Sendable {
    private let service: any RPCService
    private let limit: Int
    private let counts = NIOLockedValueBox<[UInt32: Int]>([:])

    init(service: any RPCService, limit: Int) {
        self.service = service
        self.limit = limit
    }

    /// True if the token's user may have one more. Operators may, with a token that has their rights.
    func admits(_ token: GatewayToken) -> Bool {
        let count = counts.withLockedValue { $0[token.user.userID] ?? 0 }
        return count < limit || token.scope == .operate && service.isPrivileged(token.user)
    }

    /// Counts a connection until it ends.
    func add(_ connection: RPCConnection) {
        let user = connection.peer.userID
        counts.withLockedValue { $0[user, default: 0] += 1 }
        connection.onEnd { [weak self] in self?.leave(user) }
    }

    private func leave(_ user: UInt32) {
        counts.withLockedValue { counts in
            let left = (counts[user] ?? 0) - 1
            counts[user] = left > 0 ? left : nil
        }
    }

    private var reason: String { "this user has \(limit) requests and connections already" }

    var fault: Aria2Fault { Aria2Fault(reason) }

    var refusal: HTTPAnswer {
        var answer = HTTPAnswer.text(reason + "\n", status: 503)
        answer.headers = [("Retry-After", "5")]
        return answer
    }
}
