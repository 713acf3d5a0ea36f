import JSONRPC
import NIOConcurrencyHelpers
import XferManager
import XferModel

/// Limits the number of event streams and their waiting bytes: each connection has a share of its user's limit.
final class EventLeases: Sendable {
    private struct User {
        let budget: EventBudget
        var streams = 0
        /// The leases by connection: budget, and streams on it.
        var connections: [UInt64: (budget: EventBudget, streams: Int)] = [:]
    }

    /// The highest number of streams of one user, on all its connections.
    static let maxPerUser = 1024

    private let perConnection: Int
    private let perUser: Int
    private let users = NIOLockedValueBox<[UInt32: User]>([:])

    /// - Parameters: bytes.
    init(perConnection: Int, perUser: Int) {
        self.perConnection = perConnection
        self.perUser = perUser
    }

    /// A lease for one more stream; nil if its user has too many.
    func lease(for connection: RPCConnection) -> EventLease? {
        let (uid, id) = (connection.peer.userID, connection.id)
        let budget = users.withLockedValue { users -> EventBudget? in
            var user = users[uid] ?? User(budget: EventBudget(limit: perUser))
            guard user.streams < Self.maxPerUser else { return nil }
            let known = user.connections[id]
            let budget = known?.budget ?? EventBudget(limit: perConnection, within: user.budget)
            user.connections[id] = (budget, (known?.streams ?? 0) + 1)
            user.streams += 1
            users[uid] = user
            return budget
        }
        guard let budget else { return nil }
        return EventLease(owner: Owner(uid: uid), budget: budget) { [weak self] in self?.end(uid, id) }
    }

    private func end(_ uid: UInt32, _ connection: UInt64) {
        users.withLockedValue { users in
            guard var user = users[uid], let known = user.connections[connection] else { return }
            user.connections[connection] = known.streams > 1 ? (known.budget, known.streams - 1) : nil
            user.streams -= 1
            users[uid] = user.streams > 0 ? user : nil
        }
    }
}

/// The lease of a stream; released with its last reference.
final class EventLease: Sendable {
    let owner: Owner
    let budget: EventBudget
    private let onEnd: @Sendable () -> Void

    init(owner: Owner, budget: EventBudget, onEnd: @escaping @Sendable () -> Void) {
        self.owner = owner
        self.budget = budget
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
