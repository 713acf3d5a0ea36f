import Glibc

/// A thread that does one thing when it is asked to, and otherwise sleeps without ever waking up by itself: one commits,
/// another moves the log.
///
/// Left to GRDB's queue, each commit would be some other thread's of libdispatch's, with another one's cache of memory and
/// a cold processor: a single write waits for all that.
final class StoreThread: @unchecked Sendable {
    // Sendable: everything that changes is only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasChanged = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let work: @Sendable () -> Void
    private var isAsked = false
    private var isWorking = false
    /// It may go when it has done what it was asked.
    private var mayEnd = false
    private var hasEnded = false

    /// - Throws: `StoreError.cannotOpen` when the system gives no thread.
    init(path: String, _ work: @escaping @Sendable () -> Void) throws(StoreError) {
        self.work = work
        mutex.initialize(to: pthread_mutex_t())
        hasChanged.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(hasChanged, nil)
        try start(path)
    }

    deinit {
        // Its thread has a reference, so it has ended.
        pthread_cond_destroy(hasChanged)
        pthread_mutex_destroy(mutex)
        hasChanged.deallocate()
        mutex.deallocate()
    }

    /// Has the work done; once more when it is being done already.
    func ask() { change { isAsked = true } }

    /// Returns when what was asked before is done. Not to be called in its work.
    func await() {
        pthread_mutex_lock(mutex)
        while (isAsked || isWorking) && !hasEnded { pthread_cond_wait(hasChanged, mutex) }
        pthread_mutex_unlock(mutex)
    }

    /// Lets the thread go once it has done what it was asked.
    func end() { change { mayEnd = true } }

    /// As `end`, and returns when it has gone. Not to be called in its work.
    func finish() {
        end()
        pthread_mutex_lock(mutex)
        while !hasEnded { pthread_cond_wait(hasChanged, mutex) }
        pthread_mutex_unlock(mutex)
    }

    private func change(_ body: () -> Void) {
        pthread_mutex_lock(mutex)
        body()
        pthread_mutex_unlock(mutex)
        // Not before: whoever wakes would find the mutex taken and sleep again.
        pthread_cond_broadcast(hasChanged)
    }

    fileprivate func run() {
        while awaitWork() {
            work()
            change { isWorking = false }
        }
        change { hasEnded = true }
    }

    private func awaitWork() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isAsked {
            if mayEnd { return false }
            pthread_cond_wait(hasChanged, mutex)
        }
        isAsked = false
        isWorking = true
        return true
    }

    private func start(_ path: String) throws(StoreError) {
        // Signals are for the main thread; a new thread inherits the mask.
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        var thread = pthread_t()
        let reference = Unmanaged.passRetained(self)
        let code = pthread_create(&thread, nil, runStoreThread, reference.toOpaque())
        guard code == 0 else {
            reference.release()
            throw .cannotOpen(path: path, reason: "no thread to write with: " + String(cString: strerror(code)))
        }
        pthread_detach(thread)
    }
}

/// Entry point of a thread, at file scope so that it inherits no isolation.
private nonisolated func runStoreThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<StoreThread>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
