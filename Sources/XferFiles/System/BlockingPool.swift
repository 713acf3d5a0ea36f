import XferSystem

/// A few threads for calls that block: fsync, hashing, directory walks, copying. They must not run on Swift's
/// cooperative pool, which has one thread for each core and is needed for everything else.
///
/// Threads start when there is work, wait without waking up while there is none, and end with the pool after its work
/// is done. Work starts in the order of its arrival.
public final class BlockingPool: Sendable {
    /// The highest number of threads of a pool.
    public static let maxThreads = 64

    private let queue: WorkQueue

    /// - Parameters:
    ///   - name: the name of its threads in ps(1), of which the system keeps 15 bytes.
    ///   - threadCount: most threads, 1 … `maxThreads`.
    public init(_ name: String = "xferd-files", threadCount: Int = 4) {
        queue = WorkQueue(threadName: name, threadCount: min(max(threadCount, 1), Self.maxThreads))
    }

    deinit { queue.end() }

    /// True if no thread is free, and each has worked for longer than `patience` on its present work: more work would
    /// not begin soon.
    public func isSilent(for patience: Duration) -> Bool { queue.isSilent(for: patience) }

    /// True if a thread has worked for longer than `patience` on its present work.
    public func isBusy(for patience: Duration) -> Bool { queue.isBusy(for: patience) }

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

/// The queue of a `BlockingPool`: closures, and the threads that run them.
final class WorkQueue: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `hasWork` is locked.
    private let hasWork = ThreadCondition()
    private let threadName: String
    private let threadLimit: Int
    private var threadCount = 0
    private var idleCount = 0
    /// The time when the present work began, by the number of its thread.
    private var begun: [Int: ContinuousClock.Instant] = [:]
    private var lastThread = 0
    private var isEnding = false
    private var incoming: [@Sendable () -> Void] = []
    /// The jobs in reverse order: the next one is the last element.
    private var outgoing: [@Sendable () -> Void] = []

    init(threadName: String, threadCount: Int) {
        self.threadName = threadName
        threadLimit = threadCount
    }

    func add(_ work: @escaping @Sendable () -> Void) {
        hasWork.lock()
        incoming.append(work)
        if idleCount < incoming.count + outgoing.count, threadCount < threadLimit, startThread() { threadCount += 1 }
        // Without any thread (the system gives none) the caller would wait for ever.
        let isStranded = threadCount == 0
        if isStranded { _ = removeNext() }
        let isUseful = idleCount > 0
        hasWork.unlock()
        if isUseful { hasWork.signal() }
        if isStranded { work() }
    }

    func isSilent(for patience: Duration) -> Bool {
        let now = ContinuousClock.now
        hasWork.lock()
        defer { hasWork.unlock() }
        return begun.count == threadLimit && begun.values.allSatisfy { $0.duration(to: now) > patience }
    }

    func isBusy(for patience: Duration) -> Bool {
        let now = ContinuousClock.now
        hasWork.lock()
        defer { hasWork.unlock() }
        return begun.values.contains { $0.duration(to: now) > patience }
    }

    /// Ends the threads once all work is done.
    func end() {
        hasWork.lock()
        isEnding = true
        hasWork.unlock()
        hasWork.broadcast()
    }

    /// The loop of a thread.
    private func work() {
        hasWork.lock()
        lastThread += 1
        let number = lastThread
        while true {
            if let next = removeNext() {
                begun[number] = .now
                hasWork.unlock()
                next()
                hasWork.lock()
                begun[number] = nil
            } else if isEnding {
                break
            } else {
                idleCount += 1
                hasWork.wait()
                idleCount -= 1
            }
        }
        threadCount -= 1
        hasWork.unlock()
    }

    private func removeNext() -> (@Sendable () -> Void)? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming.removeAll(keepingCapacity: true)
        }
        return outgoing.popLast()
    }

    private func startThread() -> Bool {
        do throws(ThreadError) {
            try BackgroundThread.start(threadName) { [self] in work() }
            return true
        } catch {
            return false
        }
    }
}
