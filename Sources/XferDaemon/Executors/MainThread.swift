@_spi(ExperimentalCustomExecutors) import _Concurrency

/// Swift's main executor in this process: jobs of the main actor, on the thread that calls `run`.
final class MainThread: MainExecutor {
    private let queue = JobQueue()

    func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job)) }

    /// Runs jobs until `stop`.
    func run() {
        while let job = queue.next() { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func stop() { queue.end() }
}
