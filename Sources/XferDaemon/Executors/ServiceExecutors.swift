import NIOConcurrencyHelpers
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// Installs this service's executors before the first `Task` starts.
///
/// Swift 6.3 offers three ways. Its hooks (`swift_task_enqueueGlobal_hook` and others) are bypassed when a task sleeps:
/// `Task.sleep` calls the default executor itself. A task executor preference does not reach the tasks that libraries
/// start. An executor factory covers both.
package enum ServiceExecutors {
    /// Runs `body` to its end and returns its result. Call it once, from the main thread, before anything else that is
    /// asynchronous.
    ///
    /// - Throws: `ThreadError` or `SystemCallError` when the system cannot create threads or timers.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) throws -> Value? {
        let main = MainThread()
        let pool = try ServicePool(threads: ServicePool.usualThreads)
        Factory.executors.withLockedValue { $0 = (main, pool) }
        _createExecutors(factory: Factory.self)
        let result = NIOLockedValueBox<Value?>(nil)
        Task.detached {
            let value = await body()
            result.withLockedValue { $0 = value }
            main.stop()
        }
        main.run()
        return result.withLockedValue { $0 }
    }

    /// `_createExecutors` calls each property once.
    private enum Factory: ExecutorFactory {
        static let executors = NIOLockedValueBox<(main: MainThread, pool: ServicePool)?>(nil)

        static var mainExecutor: any MainExecutor {
            executors.withLockedValue(\.?.main) ?? PlatformExecutorFactory.mainExecutor
        }

        static var defaultExecutor: any TaskExecutor {
            executors.withLockedValue(\.?.pool) ?? PlatformExecutorFactory.defaultExecutor
        }
    }
}

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
