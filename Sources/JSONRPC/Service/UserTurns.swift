import NIOConcurrencyHelpers

/// Limits how many requests of each user run at the same time, whatever the number of its connections. A user's requests
/// delay only that user's others.
final class UserTurns: Sendable {
    private let limit: Int
    private let users = NIOLockedValueBox<[UInt32: TurnOrder<CheckedContinuation<Bool, Never>>]>([:])

    init(limit: Int) { self.limit = max(1, limit) }

    /// Waits for a turn, which has to be returned, whatever becomes of the connection meanwhile. Returns true if the
    /// turn did not begin at once.
    func enter(for connection: RPCConnection) async -> Bool {
        let requester = TurnRequester(user: connection.peer.userID, connection: connection.id)
        return await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let hasBegun = users.withLockedValue {
                $0[requester.user, default: TurnOrder(limit: limit)].request(continuation, for: requester)
            }
            if hasBegun { continuation.resume(returning: false) }
        }
    }

    /// Ends a turn.
    func giveBack(for connection: RPCConnection) {
        let user = connection.peer.userID
        let next = users.withLockedValue { users in
            let next = users[user]?.giveBack()
            if users[user]?.isIdle ?? false { users[user] = nil }
            return next
        }
        next?.resume(returning: true)
    }
}
