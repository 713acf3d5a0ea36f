import XferCore
import XferModel

/// The limits that attempts share, both ways.
struct SharedRates {
    /// By attempt.
    var receive = RateGate<UInt64>()
    var send = RateGate<UInt64>()

    mutating func setLimits(_ limits: RateLimits, now: MonotonicInstant) {
        receive.setLimits(limits.receive.filter { $0.value > 0 }, now: now)
        send.setLimits(limits.send.filter { $0.value > 0 }, now: now)
    }

    mutating func leave(_ id: UInt64) {
        receive.leave(id)
        send.leave(id)
    }

    /// When somebody's turn comes; nil while nobody waits.
    mutating func deadline(_ now: MonotonicInstant) -> MonotonicInstant? {
        [receive.deadline(now), send.deadline(now)].compactMap(\.self).min()
    }
}
