package import JSONRPC
import NIOConcurrencyHelpers
import XferManager
import XferModel
package import XferProtocol

/// Limits the number of event streams, the tasks that they name, and their waiting bytes: each connection has a share of
/// its user's limit.
package final class EventLeases: Sendable {
    private struct User {
        let budget: EventBudget
        var streams = 0
        /// The number of tasks in the filters of all streams.
        var tasks = 0
        /// The leases by connection: budget, and streams on it.
        var connections: [UInt64: (budget: EventBudget, streams: Int)] = [:]
    }

    /// The highest number of streams of one user, on all its connections.
    static let maxPerUser = 1024
    /// The highest number of tasks that the streams of one user name; a task counts once for each stream.
    static let maxTasksPerUser = 100_000

    private let perConnection: Int
    private let perUser: Int
    private let users = NIOLockedValueBox<[UInt32: User]>([:])

    /// - Parameters: bytes.
    package init(perConnection: Int, perUser: Int) {
        self.perConnection = perConnection
        self.perUser = perUser
    }

    /// A lease for one more stream.
    ///
    /// - Parameter tasks: the number of tasks in its filter; 0 for one without.
    /// - Throws: `limit_exceeded` if its user's streams would be too many, or name too many tasks.
    package func lease(for connection: RPCConnection, tasks: Int) throws(RPCFailure) -> EventLease {
        let (uid, id) = (connection.peer.userID, connection.id)
        let result = users.withLockedValue { users -> Result<EventBudget, RPCFailure> in
            var user = users[uid] ?? User(budget: EventBudget(limit: perUser))
            guard user.streams < Self.maxPerUser else {
                return .failure(Self.refusal("a user can have \(Self.maxPerUser) event streams", Self.maxPerUser))
            }
            guard tasks <= Self.maxTasksPerUser - user.tasks else {
                return .failure(
                    Self.refusal(
                        "the event streams of a user can name \(Self.maxTasksPerUser) tasks; a stream without task_ids "
                            + "gets the events of all", Self.maxTasksPerUser))
            }
            let known = user.connections[id]
            let budget = known?.budget ?? EventBudget(limit: perConnection, within: user.budget)
            user.connections[id] = (budget, (known?.streams ?? 0) + 1)
            user.streams += 1
            user.tasks += tasks
            users[uid] = user
            return .success(budget)
        }
        return EventLease(owner: Owner(uid: uid), budget: try result.get()) { [weak self] in self?.end(uid, id, tasks) }
    }

    private static func refusal(_ message: String, _ limit: Int) -> RPCFailure {
        RPCFailure(
            .limitExceeded, message, data: ErrorData(reason: "limit_exceeded", limit: Int64(clamping: limit)))
    }

    private func end(_ uid: UInt32, _ connection: UInt64, _ tasks: Int) {
        users.withLockedValue { users in
            guard var user = users[uid], let known = user.connections[connection] else { return }
            user.connections[connection] = known.streams > 1 ? (known.budget, known.streams - 1) : nil
            user.streams -= 1
            user.tasks -= tasks
            users[uid] = user.streams > 0 ? user : nil
        }
    }
}

/// The lease of a stream; released with its last reference.
package final class EventLease: Sendable {
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
