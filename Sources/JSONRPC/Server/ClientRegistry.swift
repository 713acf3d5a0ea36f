import NIOConcurrencyHelpers
import NIOCore

/// The open connections. It counts them against the limits and closes them, either at once or after their answers.
///
/// A connection keeps its place after it has closed, until its last message has been carried out. Otherwise a client
/// that sends and disconnects would be limited by its speed alone.
final class ClientRegistry: Sendable {
    private struct Place {
        let user: UInt32
        let isPrivileged: Bool
    }

    private struct State {
        /// The open connections.
        var clients: [UInt64: any Channel] = [:]
        var places: [UInt64: Place] = [:]
        /// The number of places of each user who has one.
        var users: [UInt32: Int] = [:]
        /// The number of places of clients that are not privileged.
        var ordinary = 0
        var refused: [UInt64: any Channel] = [:]
        var nextID: UInt64 = 0
        var isFinishing = false
        var waiters: [CheckedContinuation<Void, Never>] = []

        mutating func removePlace(_ id: UInt64) {
            guard let place = places.removeValue(forKey: id) else { return }
            if !place.isPrivileged { ordinary -= 1 }
            let left = users[place.user, default: 0] - 1
            users[place.user] = left > 0 ? left : nil
        }
    }

    private let limits: RPCLimits
    private let state = NIOLockedValueBox(State())

    init(limits: RPCLimits) { self.limits = limits }

    enum Admission {
        case accepted(id: UInt64)
        /// There are too many connections. `count` is the number of connections that are being refused now, including
        /// this one.
        case refused(id: UInt64, RPCError, count: Int)
        case shuttingDown
    }

    var count: Int { state.withLockedValue { $0.clients.count } }

    /// Adds a new connection; `remove` removes it again, and `leave` its place.
    func admit(_ channel: any Channel, of user: UInt32, isPrivileged: Bool) -> Admission {
        state.withLockedValue { state in
            if state.isFinishing { return .shuttingDown }
            state.nextID += 1
            if let error = refusal(state, has: state.users[user] ?? 0, isPrivileged: isPrivileged) {
                state.refused[state.nextID] = channel
                return .refused(id: state.nextID, error, count: state.refused.count)
            }
            state.users[user, default: 0] += 1
            if !isPrivileged { state.ordinary += 1 }
            state.clients[state.nextID] = channel
            state.places[state.nextID] = Place(user: user, isPrivileged: isPrivileged)
            return .accepted(id: state.nextID)
        }
    }

    /// The reason why a further connection of a user with `count` connections is refused; nil if it is accepted.
    private func refusal(_ state: State, has count: Int, isPrivileged: Bool) -> RPCError? {
        let reason = "too_many_clients"
        if !isPrivileged, count >= limits.clientsPerUser {
            let limit = limits.clientsPerUser
            return .beyondLimit("this user has \(limit) connections already", reason: reason, limit: limit)
        }
        let open = limits.clients - min(limits.reservedClients, limits.clients / 2)
        if state.places.count >= limits.clients {
            return .beyondLimit("there are \(limits.clients) clients already", reason: reason, limit: limits.clients)
        }
        guard !isPrivileged, state.ordinary >= open else { return nil }
        return .beyondLimit(
            "there are \(open) clients already, and the remaining places are reserved for operators",
            reason: reason, limit: open)
    }

    /// Counts an admitted connection as refused. Returns the number of connections that are being refused now,
    /// including this one.
    func refuse(_ id: UInt64) -> Int {
        state.withLockedValue { state in
            state.refused[id] = state.clients.removeValue(forKey: id)
            state.removePlace(id)
            return state.refused.count
        }
    }

    /// Records that a connection has closed.
    func remove(_ id: UInt64) {
        let waiters = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            state.clients[id] = nil
            state.refused[id] = nil
            guard state.clients.isEmpty, state.refused.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Frees the place of a connection that has ended (`RPCConnection.onEnd`).
    func leave(_ id: UInt64) { state.withLockedValue { $0.removePlace(id) } }

    /// Ends every connection after the answers to the requests it has begun. No new connection is admitted.
    func finishAll() {
        let channels = state.withLockedValue { state in
            state.isFinishing = true
            return Array(state.clients.values) + Array(state.refused.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(FinishEvent()) }
    }

    func closeAll() {
        let channels = state.withLockedValue { Array($0.clients.values) + Array($0.refused.values) }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Returns when there is no connection left.
    func whenEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLockedValue { state in
                guard !state.clients.isEmpty || !state.refused.isEmpty else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}

/// Notifies a connection's handlers that the server shuts down: they answer the requests that have begun, begin no
/// others, and close.
///
/// NIO's `ChannelShouldQuiesceEvent` cannot be used: its HTTP pipeline handler does not pass it on, so a stream would
/// never end.
struct FinishEvent: Sendable {}
