import Glibc

/// The queue behind a `BlockingPool`: closures, and the threads that take them.
final class WorkQueue: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let threadLimit: Int
    private var threadCount = 0
    private var idleCount = 0
    private var isEnding = false
    private var incoming: [@Sendable () -> Void] = []
    /// Reversed, the next one last.
    private var outgoing: [@Sendable () -> Void] = []

    init(threadCount: Int) {
        threadLimit = threadCount
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

    func add(_ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(mutex)
        incoming.append(work)
        if idleCount < incoming.count + outgoing.count, threadCount < threadLimit, startThread() { threadCount += 1 }
        // Without a single thread (the system has none to give) waiting would last for ever.
        let isStranded = threadCount == 0
        if isStranded { _ = takeNext() }
        let isUseful = idleCount > 0
        pthread_mutex_unlock(mutex)
        // Not before: whoever wakes would find the mutex taken and sleep again.
        if isUseful { pthread_cond_signal(hasWork) }
        if isStranded { work() }
    }

    /// Lets the threads go once all work is done.
    func end() {
        pthread_mutex_lock(mutex)
        isEnding = true
        pthread_cond_broadcast(hasWork)
        pthread_mutex_unlock(mutex)
    }

    /// What a thread does all its life.
    fileprivate func work() {
        pthread_mutex_lock(mutex)
        while true {
            if let next = takeNext() {
                pthread_mutex_unlock(mutex)
                next()
                pthread_mutex_lock(mutex)
            } else if isEnding {
                break
            } else {
                idleCount += 1
                pthread_cond_wait(hasWork, mutex)
                idleCount -= 1
            }
        }
        threadCount -= 1
        pthread_mutex_unlock(mutex)
    }

    private func takeNext() -> (@Sendable () -> Void)? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming.removeAll(keepingCapacity: true)
        }
        return outgoing.popLast()
    }

    private func startThread() -> Bool {
        // Signals are for the main thread; a new thread inherits the mask.
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        var thread = pthread_t()
        let reference = Unmanaged.passRetained(self)
        guard pthread_create(&thread, nil, runWorkQueueThread, reference.toOpaque()) == 0 else {
            reference.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// Entry point of a pool's thread, at file scope so that it inherits no isolation.
private nonisolated func runWorkQueueThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<WorkQueue>.fromOpaque(argument).takeRetainedValue().work()
    return nil
}
