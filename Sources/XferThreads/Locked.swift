public import Glibc

/// A value behind a pthread mutex. (ThreadSanitizer takes `Synchronization.Mutex` for a race.)
public final class Locked<Value>: @unchecked Sendable {
    // Sendable: `value` is only touched while `mutex` is held, and what leaves `withLock` is `sending`.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls `body` with the mutex held. `body` must not call it again: that would wait for ever.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

/// A mutex and a condition for threads that wait without ever waking up by themselves (pthread_cond_wait(3)).
///
/// The owner keeps the guarded values. Where no thread waits, use `Locked`, which also holds the value.
public final class ThreadCondition: @unchecked Sendable {
    // Sendable: both are made for many threads, and their addresses do not change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        // A thread that waits has a reference, so none waits here.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func lock() { pthread_mutex_lock(mutex) }
    public func unlock() { pthread_mutex_unlock(mutex) }

    /// Call it with the mutex held; other threads can hold it meanwhile. It may return without a signal, so call it in
    /// a loop.
    public func wait() { pthread_cond_wait(condition, mutex) }

    /// Wakes one waiting thread. Best called after `unlock`: otherwise the thread finds the mutex taken and sleeps
    /// again.
    public func signal() { pthread_cond_signal(condition) }

    /// Wakes all waiting threads; as `signal`.
    public func broadcast() { pthread_cond_broadcast(condition) }
}
