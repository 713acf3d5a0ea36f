import CLinux
import Glibc
import XferSystem
// The protocols of a global executor are not public in Swift 6.3; only this file and `ServiceExecutors` import them.
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// Swift's global executor in this process: a fixed number of threads, and kernel timers.
///
/// Swift's own uses libdispatch, whose thread pool checks every second whether it should grow, once it has run its
/// first job. An idle service should not wake up.
final class ServicePool: TaskExecutor, SchedulingExecutor {
    private let queue = JobQueue()
    private let continuous: DelayTimer
    private let suspending: DelayTimer

    /// Runs `threads` threads, which exist as long as the process.
    ///
    /// - Throws: `ThreadError` or `SystemCallError` when the system cannot create threads or timers.
    init(threads: Int) throws {
        continuous = try DelayTimer(clock: CLOCK_BOOTTIME, due: queue)
        suspending = try DelayTimer(clock: CLOCK_MONOTONIC, due: queue)
        for _ in 0..<threads {
            try BackgroundThread.start("xferd-pool") { [queue, executor = UnmanagedExecutor(self)] in
                queue.adoptThread()
                while let job = queue.next() { job.runSynchronously(on: executor.reference) }
            }
        }
    }

    /// One thread for each processor, at least 4 and at most 16: a thread that the kernel blocks (for example for a
    /// page of a file) must not block all jobs.
    static var usualThreads: Int { min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 4), 16) }

    func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job)) }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        guard let delay = delay as? Swift.Duration else {
            preconditionFailure("a clock whose durations are \(C.Duration.self) has to supply its own way of waiting")
        }
        (clock is SuspendingClock ? suspending : continuous).add(UnownedJob(job), after: delay)
    }
}

/// The pool, as jobs reference it. It lives as long as the process, and its threads need no strong reference.
private struct UnmanagedExecutor: @unchecked Sendable {
    // Sendable: only a reference to a Sendable object.
    let reference: UnownedTaskExecutor

    init(_ pool: ServicePool) { reference = pool.asUnownedTaskExecutor() }
}
