import DequeModule
import Glibc

/// Jobs waiting for a thread, in the order they came, and the threads waiting for jobs.
///
/// Threads that wait sleep without ever waking up by themselves. At most one thread is being woken at a time, and it wakes
/// the next if there is still work when it gets there: a burst of jobs costs one system call, not one for each. A job that adds
/// a single other one wakes nobody: its own thread goes on with that, most often at once.
final class JobQueue: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs = Deque<UnownedJob>()
    private var idleThreads = 0
    private var isWaking = false
    private var hasEnded = false
    /// Set on the threads that take jobs from this queue.
    private var taker = pthread_key_t()

    init() {
        mutex.initialize(to: pthread_mutex_t())
        hasWork.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(hasWork, nil)
        pthread_key_create(&taker, nil)
    }

    deinit {
        // Every thread holds a reference, so none is left.
        pthread_key_delete(taker)
        pthread_cond_destroy(hasWork)
        pthread_mutex_destroy(mutex)
        hasWork.deallocate()
        mutex.deallocate()
    }

    func add(_ job: UnownedJob) {
        let isTaker = pthread_getspecific(taker) != nil
        pthread_mutex_lock(mutex)
        jobs.append(job)
        let isUseful = !(isTaker && jobs.count == 1) && mayWakeOne()
        pthread_mutex_unlock(mutex)
        // Not before: whoever wakes would find the mutex taken and sleep again.
        if isUseful { pthread_cond_signal(hasWork) }
    }

    /// The next job, waited for; nil once the queue has ended and is empty.
    func take() -> UnownedJob? {
        pthread_setspecific(taker, mutex)
        pthread_mutex_lock(mutex)
        while jobs.isEmpty {
            if hasEnded {
                pthread_mutex_unlock(mutex)
                return nil
            }
            idleThreads += 1
            pthread_cond_wait(hasWork, mutex)
            idleThreads -= 1
            isWaking = false
        }
        let job = jobs.removeFirst()
        let isUseful = mayWakeOne()
        pthread_mutex_unlock(mutex)
        if isUseful { pthread_cond_signal(hasWork) }
        return job
    }

    /// Lets the threads go when no job is left.
    func end() {
        pthread_mutex_lock(mutex)
        hasEnded = true
        pthread_cond_broadcast(hasWork)
        pthread_mutex_unlock(mutex)
    }

    /// Whether a thread is to be woken; notes that one is being woken then.
    private func mayWakeOne() -> Bool {
        guard !jobs.isEmpty, idleThreads > 0, !isWaking else { return false }
        isWaking = true
        return true
    }
}
