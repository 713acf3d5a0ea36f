/// The timers of the scheduler.
struct SchedulerTimers {
    /// Fires when the first wait or cooldown ends or a condition is due.
    var wake = WakeTimer()
    /// Samples progress while runs live.
    var ticker: Task<Void, Never>?
    /// The task of the check in `RunScheduler.checkIdleness`.
    var idleCheck: Task<Void, Never>?

    mutating func stop() {
        ticker?.cancel()
        idleCheck?.cancel()
        wake.disarm()
    }
}
