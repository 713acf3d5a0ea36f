import NIOConcurrencyHelpers

/// Limits how many of the requests that read and write much run at the same time, so that they do not delay clients
/// with small requests; see `RPCService.isBulk`.
public final class BulkTurns: Sendable {
    private let order: NIOLockedValueBox<TurnOrder<CheckedContinuation<Void, Never>>>

    /// `limit` requests at the same time.
    public init(limit: Int) { order = NIOLockedValueBox(TurnOrder(limit: max(1, limit))) }

    /// Waits for a turn, which has to be given back; false when the client has gone meanwhile.
    ///
    /// A client that does not read its answers gets no turn for another one, so that little waits for it.
    public func acquire(for connection: RPCConnection) async -> Bool {
        while await connection.whenWritable() {
            await wait(connection.id)
            if connection.isWritable { return true }
            giveBack()
        }
        return false
    }

    public func giveBack() { order.withLockedValue { $0.giveBack() }?.resume() }

    private func wait(_ connection: UInt64) async {
        await withCheckedContinuation { continuation in
            if order.withLockedValue({ $0.ask(continuation, for: connection) }) { continuation.resume() }
        }
    }
}

/// Decides which request runs next: a limited number at a time, and connections take turns however many requests each
/// has. A pure decision.
struct TurnOrder<Waiter> {
    private var free: Int
    /// Connections that wait, the one that was served longest ago first.
    private var rotation: [UInt64] = []
    private var waiting: [UInt64: [Waiter]] = [:]

    /// `limit` turns at the same time.
    init(limit: Int) { free = limit }

    /// Asks for a turn; true when it is given at once. Otherwise `giveBack` returns the waiter when its turn comes.
    mutating func ask(_ waiter: Waiter, for connection: UInt64) -> Bool {
        // A turn that becomes free goes to a waiting request, so a free turn means that none waits.
        if free > 0 {
            free -= 1
            return true
        }
        if waiting[connection] == nil { rotation.append(connection) }
        waiting[connection, default: []].append(waiter)
        return false
    }

    /// Ends a turn; returns the waiter whose turn begins, if there is one.
    mutating func giveBack() -> Waiter? {
        guard let connection = rotation.first else {
            free += 1
            return nil
        }
        rotation.removeFirst()
        guard var mine = waiting.removeValue(forKey: connection), !mine.isEmpty else { return giveBack() }
        let next = mine.removeFirst()
        if !mine.isEmpty {
            waiting[connection] = mine
            rotation.append(connection)
        }
        return next
    }
}

extension TurnOrder: Sendable where Waiter: Sendable {}
