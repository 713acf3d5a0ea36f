import DequeModule
import Glibc

/// Jobs waiting for a thread, in the order they came, and the threads waiting for jobs.
///
/// Threads that wait sleep without ever waking up by themselves. At most one thread is being woken at a time, and it wakes
/// the next if there is still work when it gets there: a burst of jobs costs one system call, not one for each. A single job
/// that one of the threads adds wakes nobody: it is what that thread does next, before another one could be awake.
final class JobQueue: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs = Deque<UnownedJob>()
    private var idleThreads = 0
    private var isWaking = false
    private var hasEnded = false

    init() {
        mutex.initialize(to: pthread_mutex_t())
        hasWork.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(hasWork, nil)
    }

    deinit {
        // Every thread holds a reference, so none is left.
        pthread_cond_destroy(hasWork)
        pthread_mutex_destroy(mutex)
        hasWork.deallocate()
        mutex.deallocate()
    }

    func add(_ job: UnownedJob) {
        let isOwnThread = WorkingThread.queue === self
        pthread_mutex_lock(mutex)
        jobs.append(job)
        let isUseful = (!isOwnThread || jobs.count > 1) && mayWakeOne()
        pthread_mutex_unlock(mutex)
        // Not before: whoever wakes would find the mutex taken and sleep again.
        if isUseful { pthread_cond_signal(hasWork) }
    }

    /// The calling thread takes jobs from here from now on, and nothing else.
    func adoptThread() { WorkingThread.queue = self }

    /// The next job, waited for; nil once the queue has ended and is empty.
    func take() -> UnownedJob? {
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

/// Which queue the calling thread works for.
private enum WorkingThread {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "no thread-specific key left")
        return key
    }()

    /// Not kept alive by this: a thread holds the queue it takes jobs from.
    static var queue: JobQueue? {
        get { pthread_getspecific(key).map { Unmanaged<JobQueue>.fromOpaque($0).takeUnretainedValue() } }
        set { pthread_setspecific(key, newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }) }
    }
}
