import CLinux
import Glibc
import HeapModule
import NIOConcurrencyHelpers
import XferSystem

/// Adds jobs to a queue at their time. Its thread sleeps until the nearest one is due; without jobs it does not wake
/// up.
final class DelayTimer: Sendable {
    private struct Entry: Comparable {
        let due: Swift.Duration
        /// The number that orders jobs with the same time: the first added is the first run.
        let number: UInt64
        let job: UnownedJob

        static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
        static func < (left: Entry, right: Entry) -> Bool { (left.due, left.number) < (right.due, right.number) }
    }

    private struct State {
        var waiting = Heap<Entry>()
        var added: UInt64 = 0
    }

    private let clock: clockid_t
    private let descriptor: Int32
    private let due: JobQueue
    private let state = NIOLockedValueBox(State())

    /// Starts the timer's thread, which lives as long as the process. Times are of the clock `clock`
    /// (clock_gettime(2)); due jobs are added to `due`.
    init(clock: clockid_t, due: JobQueue) throws {
        self.clock = clock
        self.due = due
        descriptor = xfer_timerfd_create(clock)
        guard descriptor >= 0 else { throw SystemCallError("timerfd_create") }
        try BackgroundThread.start("xferd-timer") { [self] in work() }
    }

    func add(_ job: UnownedJob, after delay: Swift.Duration) {
        // A century stands for ever, and its seconds fit the timer.
        let due = now + min(max(delay, .zero), .seconds(3_155_760_000))
        state.withLockedValue { state in
            let isNearest = state.waiting.min.map { due < $0.due } ?? true
            state.waiting.insert(Entry(due: due, number: state.added, job: job))
            state.added += 1
            if isNearest { arm(due) }
        }
    }

    private func work() {
        var expirations: UInt64 = 0
        while true {
            guard read(descriptor, &expirations, MemoryLayout.size(ofValue: expirations)) >= 0 || errno == EINTR else {
                preconditionFailure("the timer cannot be read: errno \(errno)")
            }
            for job in removeDue() { due.add(job) }
        }
    }

    private func removeDue() -> [UnownedJob] {
        let now = now
        return state.withLockedValue { state in
            var jobs: [UnownedJob] = []
            while let next = state.waiting.min, next.due <= now { jobs.append(state.waiting.removeMin().job) }
            if let next = state.waiting.min { arm(next.due) }
            return jobs
        }
    }

    private var now: Swift.Duration { .nanoseconds(xfer_clock_nanoseconds(clock)) }

    /// Wakes the thread at `instant`. Zero would disarm the timer, so it is replaced by a time that is past.
    private func arm(_ instant: Swift.Duration) {
        let (seconds, attoseconds) = instant.components
        _ = xfer_timerfd_set(descriptor, Int(clamping: seconds), Int(clamping: attoseconds / 1_000_000_000))
    }
}
