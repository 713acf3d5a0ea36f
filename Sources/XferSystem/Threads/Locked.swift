public import Glibc

/// A value behind a pthread mutex. `Synchronization.Mutex` is not used because ThreadSanitizer reports its use as a
/// race.
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

    /// Calls `body` with the mutex locked. `body` must not call `withLock` of the same object: that would deadlock.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

/// A mutex and a condition variable, for threads that sleep until they are signalled (pthread_cond_wait(3)).
///
/// The owner keeps the guarded values. Where no thread waits, use `Locked`, which also contains the value.
public final class ThreadCondition: @unchecked Sendable {
    // Sendable: any thread may use the mutex and the condition variable, and their addresses do not change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        // A waiting thread holds a reference to this object, so no thread waits here.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func lock() { pthread_mutex_lock(mutex) }
    public func unlock() { pthread_mutex_unlock(mutex) }

    /// Waits for a signal. Call it with the mutex locked; it releases the mutex while it waits. It may return without a
    /// signal, so call it in a loop.
    public func wait() { pthread_cond_wait(condition, mutex) }

    /// Wakes one waiting thread. Call it after `unlock` where possible: otherwise the woken thread has to wait for the
    /// mutex.
    public func signal() { pthread_cond_signal(condition) }

    /// Wakes all waiting threads. See `signal`.
    public func broadcast() { pthread_cond_broadcast(condition) }
}
