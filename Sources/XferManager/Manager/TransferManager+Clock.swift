import Logging
import XferModel
import XferStore

/// Handles changes of the wall clock.
///
/// Timers run on a clock that is never set (CLOCK_BOOTTIME). The end of a wait is stored in wall-clock time, which
/// users understand and which is valid after a restart.
extension TransferManager {
    /// Shorter changes are left to the next one: waits need not be exact to the second.
    private static let leastStep = Duration.seconds(1)

    /// Called when the wall clock may have been set: waits keep their remaining length, and what depends on the time of
    /// day is computed again.
    public func onClockSet() async {
        let now = clock()
        let offset = Self.offset(of: now)
        let step = offset - clockOffset
        if step >= Self.leastStep || step <= .zero - Self.leastStep {
            clockOffset = offset
            logger.notice("the wall clock was set", metadata: ["seconds": "\(step.components.seconds)"])
            do {
                try await store.write(.bulky) { [services] tx in
                    try tx.shiftWaits(by: step, now: now)
                    try services.ages.record(in: tx)
                }
            } catch {
                logger.report("waits keep the times of the former clock", error)
            }
        }
        guard !isShuttingDown else { return }
        timer.disarm()
        remoteUploadCleanup.timer.disarm()
        expiryTimer.disarm()
        rateTimer.disarm()
        await applySharedLimits()
        await lookAtConditionsAgain()
        abandonUploads()
        await warnOfExpiry()
    }

    /// As `onClockSet`, for a clock that was set while the machine ran and the service did not. The change and the new
    /// clock readings are committed in one transaction, so that no wait is moved twice.
    static func followClock(_ ages: RetentionAges, in tx: StoreTransaction, at now: Timestamp) throws {
        if let step = ages.stepBeforeStart, step >= leastStep || step <= .zero - leastStep {
            try tx.shiftWaits(by: step, now: now)
        } else {
            try tx.capWaits(at: now)
        }
        try ages.record(in: tx)
    }

    static func offset(of wall: Timestamp) -> Duration {
        .microseconds(wall.rawValue) - .nanoseconds(Clocks.monotonic().nanoseconds)
    }
}
