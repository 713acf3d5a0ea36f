import NIOConcurrencyHelpers

/// Limits how many of the requests that read and write much run at the same time, so that they do not delay clients
/// with small requests; see `RPCService.isBulk`.
final class BulkTurns: Sendable {
    private let order: NIOLockedValueBox<TurnOrder<CheckedContinuation<Void, Never>>>

    init(limit: Int) { order = NIOLockedValueBox(TurnOrder(limit: max(1, limit))) }

    /// Waits for a turn, which has to be given back; false when the client has gone meanwhile.
    ///
    /// A client that does not read its answers gets no turn for another one, so that little waits for it.
    func acquire(for connection: RPCConnection) async -> Bool {
        while await connection.whenWritable() {
            await wait(connection.id)
            if connection.isWritable { return true }
            giveBack()
        }
        return false
    }

    func giveBack() { order.withLockedValue { $0.giveBack() }?.resume() }

    private func wait(_ connection: UInt64) async {
        await withCheckedContinuation { continuation in
            if order.withLockedValue({ $0.ask(continuation, for: connection) }) { continuation.resume() }
        }
    }
}
