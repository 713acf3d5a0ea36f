import DequeModule
public import XferModel

/// The rate limits that transfers share, in one direction: it decides which transfer may take bytes now, and which has
/// to wait.
///
/// A transfer that wants bytes while a limit of its scopes is exhausted, or while others wait for that limit, joins the
/// end of the limit's queue. When the debt is paid, the first in the queue gets a turn of some bytes, then the next
/// one. So transfers share a limit evenly however fast their servers are, and a transfer gets the bytes that the others
/// cannot use.
///
/// `ID` identifies a transfer. Class of origin: deficit round robin (Shreedhar, Varghese 1995).
public struct RateGate<ID: Hashable & Sendable>: Sendable {
    private struct Limit {
        var bucket: TokenBucket
        var line = Deque<ID>()
    }

    private var limits: [RateScope: Limit] = [:]
    /// The scopes that have a limit.
    private var scopes: [RateScope] = []
    /// The scope in whose line each waiting transfer is.
    private var waiting: [ID: RateScope] = [:]
    /// The rest of each transfer's turn, in bytes.
    private var turns: [ID: Int64] = [:]
    /// Transfers that waited for a limit that was removed.
    private var released = Deque<ID>()

    /// Seconds of the rate that are one turn, and bytes at least.
    private static var turnTime: Double { 0.01 }
    private static var smallestTurn: Int64 { 4 << 10 }

    public init() {}

    /// Bytes per second, each at least 1; scopes that are not named become unlimited.
    public mutating func setLimits(_ rates: [RateScope: Int64], now: MonotonicInstant) {
        for scope in scopes where rates[scope] == nil { setLimit(nil, of: scope, now: now) }
        for (scope, rate) in rates { setLimit(rate, of: scope, now: now) }
    }

    /// Sets one limit: bytes per second, at least 1; nil makes the scope unlimited.
    public mutating func setLimit(_ rate: Int64?, of scope: RateScope, now: MonotonicInstant) {
        guard let rate else {
            guard let limit = limits.removeValue(forKey: scope) else { return }
            released.append(contentsOf: limit.line)
            for id in limit.line { waiting[id] = nil }
            scopes.removeAll { $0 == scope }
            return
        }
        if limits[scope] == nil {
            limits[scope] = Limit(bucket: TokenBucket(rate: rate, now: now))
            scopes.append(scope)
        }
        limits[scope]?.bucket.setRate(rate, now: now)
    }

    /// The lowest rate among these scopes; nil when they are unlimited.
    public func lowestRate(in scopes: [RateScope]) -> Int64? {
        scopes.compactMap { limits[$0]?.bucket.rate }.min()
    }

    /// Returns true if the transfer may take bytes now. Otherwise it joins a queue, and `next` returns it when it
    /// should call again.
    public mutating func mayTake(_ id: ID, in scopes: [RateScope], now: MonotonicInstant) -> Bool {
        if limits.isEmpty { return true }
        if waiting[id] != nil { return false }
        let hasTurn = turns[id] != nil
        for scope in scopes {
            guard let isClosed = isClosed(scope, now), isClosed || !hasTurn && !isLineEmpty(scope) else { continue }
            turns[id] = nil
            waiting[id] = scope
            limits[scope]?.line.append(id)
            return false
        }
        return true
    }

    /// Counts the bytes that the transfer has taken.
    public mutating func spend(_ count: Int, by id: ID, in scopes: [RateScope], now: MonotonicInstant) {
        if limits.isEmpty { return }
        for scope in scopes { _ = limits[scope]?.bucket.spend(count, now: now) }
        guard let left = turns[id] else { return }
        let rest = left.subtractingSaturated(Int64(clamping: count))
        turns[id] = rest > 0 ? rest : nil
    }

    /// Removes a transfer that has ended, or that takes no bytes for a while.
    public mutating func leave(_ id: ID) {
        turns[id] = nil
        if let scope = waiting.removeValue(forKey: id) { limits[scope]?.line.removeAll { $0 == id } }
        released.removeAll { $0 == id }
    }

    /// The transfer that should call `mayTake` again now; call it until it returns nil.
    ///
    /// - Parameter isOurs: true if the caller runs this transfer. Only such transfers are returned. The first of a
    ///   queue is not skipped: if another caller runs it, the queue waits.
    public mutating func next(_ now: MonotonicInstant, where isOurs: (ID) -> Bool = { _ in true }) -> ID? {
        if let index = released.firstIndex(where: isOurs) { return released.remove(at: index) }
        if waiting.isEmpty { return nil }
        for scope in scopes {
            guard let first = limits[scope]?.line.first, isOurs(first), limits[scope]?.bucket.debtEnd(now) == nil,
                let rate = limits[scope]?.bucket.rate, let id = limits[scope]?.line.popFirst()
            else { continue }
            waiting[id] = nil
            turns[id] = max(Self.smallestTurn, Int64(saturating: Double(rate) * Self.turnTime))
            return id
        }
        return nil
    }

    /// The time at which `next` will return a transfer; nil while none of the caller's is first in a queue.
    public mutating func deadline(
        _ now: MonotonicInstant, where isOurs: (ID) -> Bool = { _ in true }
    ) -> MonotonicInstant? {
        if released.contains(where: isOurs) { return now }
        if waiting.isEmpty { return nil }
        var earliest: MonotonicInstant?
        for scope in scopes {
            guard let first = limits[scope]?.line.first, isOurs(first) else { continue }
            let end = limits[scope]?.bucket.debtEnd(now) ?? now
            earliest = earliest.map { min($0, end) } ?? end
        }
        return earliest
    }

    /// The first in each line.
    public var firsts: [ID] { waiting.isEmpty ? [] : scopes.compactMap { limits[$0]?.line.first } }

    public var hasLimits: Bool { !limits.isEmpty }

    /// True if the scope is exhausted; nil when it is unlimited.
    private mutating func isClosed(_ scope: RateScope, _ now: MonotonicInstant) -> Bool? {
        limits[scope]?.bucket.isExhausted(now)
    }

    private func isLineEmpty(_ scope: RateScope) -> Bool { limits[scope]?.line.isEmpty ?? true }
}
