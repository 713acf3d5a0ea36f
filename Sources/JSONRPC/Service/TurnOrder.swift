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
