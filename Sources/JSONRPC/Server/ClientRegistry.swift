import NIOConcurrencyHelpers
import NIOCore

/// The connections there are: counted against the limit, told to finish, closed by force.
final class ClientRegistry: Sendable {
    private struct State {
        var clients: [UInt64: any Channel] = [:]
        var refused: [UInt64: any Channel] = [:]
        var nextID: UInt64 = 0
        var isFinishing = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = NIOLockedValueBox(State())

    init(limit: Int) { self.limit = limit }

    enum Admission {
        case accepted(id: UInt64)
        /// Too many; `refused` are being told so at this moment, this one included.
        case refused(id: UInt64, count: Int)
        case shuttingDown
    }

    var count: Int { state.withLockedValue { $0.clients.count } }

    /// Notes a new connection, to be taken out again with `remove`.
    func admit(_ channel: any Channel) -> Admission {
        state.withLockedValue { state in
            if state.isFinishing { return .shuttingDown }
            state.nextID += 1
            if state.clients.count < limit {
                state.clients[state.nextID] = channel
                return .accepted(id: state.nextID)
            }
            state.refused[state.nextID] = channel
            return .refused(id: state.nextID, count: state.refused.count)
        }
    }

    /// Counts an admitted connection as one to be refused; how many are being told so, this one included.
    func refuse(_ id: UInt64) -> Int {
        state.withLockedValue { state in
            state.refused[id] = state.clients.removeValue(forKey: id)
            return state.refused.count
        }
    }

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

    /// Has every connection end once it has answered what it began. No new one is admitted.
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
