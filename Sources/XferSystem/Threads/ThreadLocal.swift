public import Glibc

/// The object of the calling thread, or nil if the thread has none (pthread_getspecific(3)). The reference is unowned:
/// the thread itself has to keep its object alive.
///
/// Keep it in a static property: a process has few keys, and this type never releases its key.
public struct ThreadLocal<Object: AnyObject>: Sendable {
    @usableFromInline let key: pthread_key_t

    public init() {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "no thread-specific key left")
        self.key = key
    }

    @inlinable public var current: Object? {
        get { pthread_getspecific(key).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() } }
        nonmutating set {
            pthread_setspecific(key, newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
        }
    }
}
