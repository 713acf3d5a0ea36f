import XferCore
import XferModel

/// Deadlines of an attempt: timeouts, and the least rate of a body.
extension AttemptRun {
    func onDeadline(_ now: MonotonicInstant) {
        // The step after a discarded body is already decided, so the idle timeout does not apply to the body.
        if let (next, deadline) = hop?.drain {
            return deadline <= now ? perform(next) : core.schedule(self, at: deadline)
        }
        if pacing.expired(now) == .idleTimeout, let activity = hop?.lastAcknowledgement(now) { onActivity(activity) }
        if let reason = pacing.expired(now) {
            let error = timeout(reason)
            return finish(.failed(hop?.namingAddress(error) ?? error))
        }
        if pacing.isTooSlow(now, delays: core.loop.stalls.length) {
            return finish(.failed(hop?.namingAddress(tooSlow) ?? tooSlow))
        }
        changePacing { pacing, now in pacing.onTime(now) }
    }

    private var tooSlow: TransferError {
        let least = attempt.leastRate
        let message =
            "\(request.url.hostKey) sent fewer than \(least.rate ?? 0) bytes per second for \(least.time ?? 0) s"
        return TransferError(.tooSlow, message, host: request.url.hostKey)
    }

    private func timeout(_ reason: FailureReason) -> TransferError {
        let message =
            reason == .idleTimeout
            ? "no data arrived from \(request.url.hostKey) for \(attempt.request.timeouts.idle) s"
            : "the attempt took longer than \(attempt.request.timeouts.total) s"
        let way = hop?.connection?.session.key.spec.key.proxy.map { " (through the proxy \($0))" } ?? ""
        return TransferError(reason, message + way, host: request.url.hostKey)
    }
}
