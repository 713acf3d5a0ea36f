import XferThreads

/// A few threads for calls that block: fsync, hashing, directory walks, copying. They must not run on Swift's
/// cooperative pool, which has one thread for each core and is needed for everything else.
///
/// Threads start when there is work, wait without waking up while there is none, and end with the pool after its work
/// is done. Work starts in the order it came in.
public final class BlockingPool: Sendable {
    /// Threads of a pool at most.
    public static let maxThreads = 64

    private let queue: WorkQueue

    /// - Parameters:
    ///   - name: what its threads are called in ps(1), of which the system keeps 15 bytes.
    ///   - threadCount: most threads, 1 … `maxThreads`.
    public init(_ name: String = "xferd-files", threadCount: Int = 4) {
        queue = WorkQueue(threadName: name, threadCount: min(max(threadCount, 1), Self.maxThreads))
    }

    deinit { queue.end() }

    /// Runs `body` on a thread of the pool. It runs to its end even when the caller is cancelled.
    public func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // A continuation that is resumed before it is awaited synchronises within Swift's runtime, which
        // ThreadSanitizer does not see. The lock makes the order visible to it.
        let isDone = Locked(false)
        let result = await withCheckedContinuation { continuation in
            queue.add {
                let result: Result<Value, Failure>
                do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
                isDone.withLock { $0 = true }
                continuation.resume(returning: result)
            }
        }
        _ = isDone.withLock { $0 }
        return try result.get()
    }
}
