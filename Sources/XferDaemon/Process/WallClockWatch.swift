import CLinux
import Glibc
import XferSystem

/// Reports when the wall clock is set (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`). Its thread sleeps until the clock
/// is set, and lives as long as the process. No change after the return of `start` is missed.
enum WallClockWatch {
    /// Starts the watch.
    ///
    /// - Parameter onSet: called on the watch's thread when the clock was set. The kernel also sets the clock after the
    ///   machine has slept.
    /// - Throws: `SystemCallError` or `ThreadError` if the timer or the thread cannot be created.
    static func start(onSet: @escaping @Sendable () -> Void) throws {
        let timer = xfer_timerfd_create(CLOCK_REALTIME)
        guard timer >= 0 else { throw SystemCallError("timerfd_create") }
        _ = xfer_timerfd_watch_clock(timer)
        try BackgroundThread.start("xferd-clock") {
            var expirations: UInt64 = 0
            // Both calls report a change with ECANCELED. So a change between the two calls is not missed.
            while xfer_timerfd_watch_clock(timer) == 0
                && read(timer, &expirations, MemoryLayout.size(ofValue: expirations)) >= 0
                || errno == ECANCELED || errno == EINTR
            {
                if errno == ECANCELED { onSet() }
                errno = 0
            }
            close(timer)
        }
    }
}
