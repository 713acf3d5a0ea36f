import NIOConcurrencyHelpers

/// Limits how many requests of each user run at the same time, whatever the number of its connections. A user's requests
/// delay only that user's others.
final class UserTurns: Sendable {
    private let limit: Int
    private let users = NIOLockedValueBox<[Holder: TurnOrder<CheckedContinuation<Bool, Never>>]>([:])

    /// A user, or the connection of a client without a token: strangers have nothing in common.
    private enum Holder: Hashable {
        case user(UInt32)
        case stranger(UInt64)

        init(_ connection: RPCConnection) {
            self = connection.remote?.tokenID == 0 ? .stranger(connection.id) : .user(connection.peer.userID)
        }
    }

    init(limit: Int) { self.limit = max(1, limit) }

    /// Waits for a turn, which has to be returned, whatever becomes of the connection meanwhile. Returns true if the
    /// turn did not begin at once.
    func enter(for connection: RPCConnection) async -> Bool {
        let requester = TurnRequester(user: connection.peer.userID, connection: connection.id)
        let holder = Holder(connection)
        return await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let hasBegun = users.withLockedValue {
                $0[holder, default: TurnOrder(limit: limit)].request(continuation, for: requester)
            }
            if hasBegun { continuation.resume(returning: false) }
        }
    }

    /// Ends a turn.
    func giveBack(for connection: RPCConnection) {
        let holder = Holder(connection)
        let next = users.withLockedValue { users in
            let next = users[holder]?.giveBack()
            if users[holder]?.isIdle ?? false { users[holder] = nil }
            return next
        }
        next?.resume(returning: true)
    }
}
