import CLinux
import Glibc
import XferSystem
import XferThreads

/// Reports when the wall clock is set (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`). Its thread sleeps until then, and
/// lives as long as the process. A clock that is set after `start` has returned is not missed.
enum WallClockWatch {
    /// - Parameter onSet: called on the watch's thread, also when the machine has slept, which sets the clock.
    /// - Throws: `SystemCallError` or `ThreadError` when the system gives no timer or thread.
    static func start(onSet: @escaping @Sendable () -> Void) throws {
        let timer = xfer_timerfd_create(CLOCK_REALTIME)
        guard timer >= 0 else { throw SystemCallError("timerfd_create") }
        _ = xfer_timerfd_watch_clock(timer)
        try BackgroundThread.start("xferd-clock") {
            var expirations: UInt64 = 0
            // Either call reports a change: a clock that is set between them is not missed.
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
