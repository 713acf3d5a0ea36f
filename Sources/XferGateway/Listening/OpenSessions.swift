import JSONRPC
import NIOConcurrencyHelpers

/// The requests, streams and WebSockets that are open for each token.
final class OpenSessions: Sendable {
    private let connections = NIOLockedValueBox<[Int64: [UInt64: RPCConnection]]>([:])

    /// Adds a connection until it closes.
    func add(_ connection: RPCConnection, tokenID: Int64) {
        connections.withLockedValue { $0[tokenID, default: [:]][connection.id] = connection }
        connection.onClose { [weak self, id = connection.id] in self?.remove(id, tokenID: tokenID) }
    }

    /// Closes all connections of a token, without sending what waits.
    func close(tokenID: Int64) {
        let open = connections.withLockedValue { Array(($0[tokenID] ?? [:]).values) }
        for connection in open { connection.close() }
    }

    /// The tokens that have connections.
    var tokenIDs: [Int64] { connections.withLockedValue { Array($0.keys) } }

    private func remove(_ id: UInt64, tokenID: Int64) {
        connections.withLockedValue { connections in
            connections[tokenID]?[id] = nil
            if connections[tokenID]?.isEmpty == true { connections[tokenID] = nil }
        }
    }
}
