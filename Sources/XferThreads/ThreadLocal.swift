public import Glibc

/// An object that the calling thread belongs to, nil where it belongs to none (pthread_getspecific(3)). It is not kept
/// alive by this: a thread holds what it works for.
///
/// To be kept in a static property: a process has few keys, and none is given back.
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
