import NIOConcurrencyHelpers

/// Limits how many of the requests that read and write much run at the same time, so that they do not delay clients
/// with small requests; see `RPCService.isBulk`.
public final class BulkTurns: Sendable {
    private let order: NIOLockedValueBox<TurnOrder<CheckedContinuation<Void, Never>>>

    /// `limit` requests at the same time, and `reserved` further ones of privileged users.
    public init(limit: Int, reserved: Int = 1) {
        order = NIOLockedValueBox(TurnOrder(limit: max(1, limit), reserved: max(0, reserved)))
    }

    /// Waits for a turn, which has to be returned; false when the client has disconnected meanwhile.
    ///
    /// A client that does not read its answers gets no turn for another one, so that little output waits for it.
    public func acquire(for connection: RPCConnection, isPrivileged: Bool) async -> Bool {
        while await connection.whenWritable() {
            await enter(for: connection, isPrivileged: isPrivileged)
            if connection.isWritable { return true }
            giveBack()
        }
        return false
    }

    /// Waits for a turn, which has to be returned, whatever becomes of the connection meanwhile.
    func enter(for connection: RPCConnection, isPrivileged: Bool) async {
        let requester = TurnRequester(
            user: connection.peer.userID, connection: connection.id, isPrivileged: isPrivileged)
        await withCheckedContinuation { continuation in
            if order.withLockedValue({ $0.request(continuation, for: requester) }) { continuation.resume() }
        }
    }

    /// Ends a turn; the next waiting request begins.
    public func giveBack() {
        order.withLockedValue { $0.giveBack() }?.resume()
    }
}

/// The client for which a turn is requested.
struct TurnRequester: Hashable {
    var user: UInt32
    var connection: UInt64
    var isPrivileged = false
}

/// Decides which request runs next: a limited number at a time. The users take turns however many connections each has,
/// and so do a user's connections however many requests each has. Some turns are reserved for privileged users. A pure
/// decision.
struct TurnOrder<Waiter> {
    private let limit: Int
    private let reserved: Int
    /// The number of turns that have begun and not ended.
    private var running = 0
    /// The waiting users, the one that was served longest ago first. A user's privileged requests wait by themselves.
    private var users: Rotation<User, Rotation<UInt64, [Waiter]>> = Rotation()

    private struct User: Hashable {
        var id: UInt32
        var isPrivileged: Bool
    }

    /// - Parameters:
    ///   - limit: turns at the same time.
    ///   - reserved: further turns of privileged users.
    init(limit: Int, reserved: Int = 0) {
        self.limit = limit
        self.reserved = reserved
    }

    /// Requests a turn. Returns true if the turn begins at once. Otherwise `giveBack` returns the waiter when its turn
    /// comes.
    mutating func request(_ waiter: Waiter, for requester: TurnRequester) -> Bool {
        // A turn that becomes free goes to a waiting request, so a free turn means that none waits for it.
        if isFree(forPrivileged: requester.isPrivileged) {
            running += 1
            return true
        }
        users.change(User(id: requester.user, isPrivileged: requester.isPrivileged), else: Rotation()) { connections in
            connections.change(requester.connection, else: []) { $0.append(waiter) }
        }
        return false
    }

    /// Ends a turn; returns the waiter whose turn begins, if there is one.
    mutating func giveBack() -> Waiter? {
        running -= 1
        let mayBeOrdinary = isFree(forPrivileged: false)
        guard let user = users.first(where: { $0.isPrivileged || mayBeOrdinary }) else { return nil }
        var next: Waiter?
        users.serve(user) { connections in
            guard let connection = connections.first(where: { _ in true }) else { return false }
            connections.serve(connection) { waiters in
                next = waiters.removeFirst()
                return !waiters.isEmpty
            }
            return !connections.isEmpty
        }
        if next != nil { running += 1 }
        return next
    }

    /// True if no turn has begun and not ended.
    var isIdle: Bool { running == 0 }

    private func isFree(forPrivileged isPrivileged: Bool) -> Bool {
        running < limit + (isPrivileged ? reserved : 0)
    }
}

extension TurnOrder: Sendable where Waiter: Sendable {}

/// Values by key, the keys in the order in which they were served.
private struct Rotation<Key: Hashable, Value> {
    private var order: [Key] = []
    private var values: [Key: Value] = [:]

    var isEmpty: Bool { order.isEmpty }

    func first(where predicate: (Key) -> Bool) -> Key? { order.first(where: predicate) }

    /// Changes the value of a key, which is the last in the order if it is new.
    mutating func change(_ key: Key, else value: Value, _ change: (inout Value) -> Void) {
        if values[key] == nil { order.append(key) }
        change(&values[key, default: value])
    }

    /// Changes the value of a key, for example by removing an element, and moves the key to the end of the order.
    ///
    /// - Parameter take: returns true if the value is still needed; otherwise the key is removed.
    mutating func serve(_ key: Key, _ take: (inout Value) -> Bool) {
        guard var value = values.removeValue(forKey: key) else { return }
        order.removeAll { $0 == key }
        guard take(&value) else { return }
        values[key] = value
        order.append(key)
    }
}

extension Rotation: Sendable where Key: Sendable, Value: Sendable {}
