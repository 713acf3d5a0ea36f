import NIOConcurrencyHelpers
import XferCore
import XferModel

/// The limits that attempts share, in both directions and over all loops. Each limit has one bucket and one queue, so
/// that the sum applies regardless of the loops on which the attempts run.
///
/// Each loop resumes only its own attempts, since no other thread may touch them. The loop of the first attempt in a
/// queue waits for the debt's end. A loop whose attempt leaves the head of a queue wakes the loop of the next one
/// (`loopsOfFirsts`).
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

    /// Replaces the limits of one scope; see `TransferEngine.setRates`.
    func setRates(_ rates: BandwidthLimits, of scope: RateScope, now: MonotonicInstant) {
        gates.withLockedValue { gates in
            gates.receive.setLimit(rates.receive > 0 ? rates.receive : nil, of: scope, now: now)
            gates.send.setLimit(rates.send > 0 ? rates.send : nil, of: scope, now: now)
        }
    }

    var isLimited: Bool { gates.withLockedValue { $0.receive.hasLimits || $0.send.hasLimits } }

    /// See `RateGate.mayTake`.
    func mayTake(_ direction: Direction, _ id: AttemptID, in scopes: [RateScope], now: MonotonicInstant) -> Bool {
        gates.withLockedValue { $0[direction].mayTake(id, in: scopes, now: now) }
    }

    func spend(_ direction: Direction, _ count: Int, by id: AttemptID, in scopes: [RateScope], now: MonotonicInstant) {
        gates.withLockedValue { $0[direction].spend(count, by: id, in: scopes, now: now) }
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

    /// The attempt of this loop whose turn it is; call it until it returns nil.
    func next(_ direction: Direction, on loop: Int, now: MonotonicInstant) -> AttemptID? {
        gates.withLockedValue { $0[direction].next(now, where: { $0.loop == loop }) }
    }

    /// The time of this loop's next turn, or nil while none of its attempts is first in a queue.
    func deadline(on loop: Int, now: MonotonicInstant) -> MonotonicInstant? {
        gates.withLockedValue { gates in
            let receive = gates.receive.deadline(now, where: { $0.loop == loop })
            let send = gates.send.deadline(now, where: { $0.loop == loop })
            return [receive, send].compactMap(\.self).min()
        }
    }

    /// The loops of the attempts that are first in a line.
    var loopsOfFirsts: Set<Int> {
        gates.withLockedValue { gates in Set((gates.receive.firsts + gates.send.firsts).map(\.loop)) }
    }
}
