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
