import DequeModule
import XferSystem

/// A queue of jobs, in the order of their arrival, and of the threads that wait for jobs.
///
/// Idle threads sleep without a timeout. At most one thread is being woken at a time. When it runs, it wakes the next
/// thread if jobs are left. So a burst of jobs needs less than one system call per job. If one of the queue's threads
/// adds a single job, no other thread is woken: the same thread runs the job next, sooner than another thread could
/// wake up.
final class JobQueue: @unchecked Sendable {
    /// The queue of the calling thread.
    private static let ofThread = ThreadLocal<JobQueue>()

    // Sendable: mutable state is used only while `hasWork` is locked.
    private let hasWork = ThreadCondition()
    private var jobs = Deque<UnownedJob>()
    private var idleThreads = 0
    private var isWaking = false
    private var hasEnded = false

    func add(_ job: UnownedJob) {
        let isOwnThread = Self.ofThread.current === self
        hasWork.lock()
        jobs.append(job)
        let isUseful = (!isOwnThread || jobs.count > 1) && mayWakeOne()
        hasWork.unlock()
        if isUseful { hasWork.signal() }
    }

    /// Binds the calling thread to this queue.
    func adoptThread() { Self.ofThread.current = self }

    /// Waits for the next job and removes it. Returns nil when the queue has ended and is empty.
    func next() -> UnownedJob? {
        hasWork.lock()
        while jobs.isEmpty {
            if hasEnded {
                hasWork.unlock()
                return nil
            }
            idleThreads += 1
            hasWork.wait()
            idleThreads -= 1
            isWaking = false
        }
        let job = jobs.removeFirst()
        let isUseful = mayWakeOne()
        hasWork.unlock()
        if isUseful { hasWork.signal() }
        return job
    }

    /// Ends the queue: its threads end when no job is left.
    func end() {
        hasWork.lock()
        hasEnded = true
        hasWork.unlock()
        hasWork.broadcast()
    }

    /// True if a thread has to be woken; if so, records that one is being woken.
    private func mayWakeOne() -> Bool {
        guard !jobs.isEmpty, idleThreads > 0, !isWaking else { return false }
        isWaking = true
        return true
    }
}
