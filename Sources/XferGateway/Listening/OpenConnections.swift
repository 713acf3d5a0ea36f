import JSONRPC
import NIOConcurrencyHelpers

/// The requests, streams and WebSockets that are open for each key: a token's id, or the secret of a browser's session.
final class OpenConnections<Key: Hashable & Sendable>: Sendable {
    private let connections = NIOLockedValueBox<[Key: [UInt64: RPCConnection]]>([:])

    /// Adds a connection until it closes.
    func add(_ connection: RPCConnection, for key: Key) {
        connections.withLockedValue { $0[key, default: [:]][connection.id] = connection }
        connection.onClose { [weak self, id = connection.id] in self?.remove(id, for: key) }
    }

    /// Closes all connections of a key, without sending what waits.
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
