import Glibc

/// A mutex and a condition for threads that wait without ever waking up by themselves (pthread_cond_wait(3)).
///
/// What it guards is its owner's; where nobody waits, `Locked` holds the value too.
public final class ThreadCondition: @unchecked Sendable {
    // Sendable: both are made for many threads, and where they are does not change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        // Whoever waits has a reference, so nobody does.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func lock() { pthread_mutex_lock(mutex) }
    public func unlock() { pthread_mutex_unlock(mutex) }

    /// With the mutex held, which others can have meanwhile. May return for no reason: to be called in a loop.
    public func wait() { pthread_cond_wait(condition, mutex) }

    /// Wakes one who waits. Best called after `unlock`: whoever wakes would find the mutex taken and sleep again.
    public func signal() { pthread_cond_signal(condition) }

    /// Wakes everybody; as `signal`.
    public func broadcast() { pthread_cond_broadcast(condition) }
}
