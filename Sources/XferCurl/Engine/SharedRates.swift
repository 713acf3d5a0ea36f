import NIOConcurrencyHelpers
import XferCore
import XferModel

/// The limits that attempts share, both ways and over all loops: one bucket and one line for each, so that the sum holds
/// whatever runs where.
///
/// Each loop lets those go on that run on it, since only their loop may touch them. Whoever is first in a line has their loop
/// waiting for the debt's end; a loop that was at the head and no longer is wakes the one whose turn it is (`firsts`).
final class SharedRates: Sendable {
    enum Direction {
        case receive, send
    }

    private struct Gates {
        var receive = RateGate<AttemptID>()
        var send = RateGate<AttemptID>()

        subscript(direction: Direction) -> RateGate<AttemptID> {
            get { direction == .receive ? receive : send }
            _modify {
                if direction == .receive { yield &receive } else { yield &send }
            }
        }
    }

    private let gates = NIOLockedValueBox(Gates())

    func setLimits(_ limits: RateLimits, now: MonotonicInstant) {
        gates.withLockedValue { gates in
            gates.receive.setLimits(limits.receive.filter { $0.value > 0 }, now: now)
            gates.send.setLimits(limits.send.filter { $0.value > 0 }, now: now)
        }
    }

    var isLimited: Bool { gates.withLockedValue { $0.receive.hasLimits || $0.send.hasLimits } }

    /// See `RateGate.mayTake`.
    func mayTake(_ direction: Direction, _ id: AttemptID, in scopes: [RateScope], now: MonotonicInstant) -> Bool {
        gates.withLockedValue { $0[direction].mayTake(id, in: scopes, now: now) }
    }

    func take(_ direction: Direction, _ count: Int, by id: AttemptID, in scopes: [RateScope], now: MonotonicInstant) {
        gates.withLockedValue { $0[direction].take(count, by: id, in: scopes, now: now) }
    }

    func lowestRate(_ direction: Direction, in scopes: [RateScope]) -> Int64? {
        gates.withLockedValue { $0[direction].lowestRate(in: scopes) }
    }

    func leave(_ id: AttemptID) {
        gates.withLockedValue { gates in
            gates.receive.leave(id)
            gates.send.leave(id)
        }
    }

    /// Whose turn it is on this loop; to be called until it names nobody.
    func next(_ direction: Direction, on loop: Int, now: MonotonicInstant) -> AttemptID? {
        gates.withLockedValue { $0[direction].next(now, where: { $0.loop == loop }) }
    }

    /// When somebody's turn comes on this loop; nil while nobody of it is first in a line.
    func deadline(on loop: Int, now: MonotonicInstant) -> MonotonicInstant? {
        gates.withLockedValue { gates in
            let receive = gates.receive.deadline(now, where: { $0.loop == loop })
            let send = gates.send.deadline(now, where: { $0.loop == loop })
            return [receive, send].compactMap(\.self).min()
        }
    }

    /// The loops of those who are first in a line.
    var loopsOfFirsts: Set<Int> {
        gates.withLockedValue { gates in Set((gates.receive.firsts + gates.send.firsts).map(\.loop)) }
    }
}
