/// A value behind a reference: a copy costs one reference instead of one for each of the value's parts, and copies with
/// one origin compare equal at once.
///
/// Use it for large values that are passed on often and changed rarely: each change copies the whole.
public struct CopyOnWrite<Value: Hashable & Sendable>: Hashable, Sendable {
    @usableFromInline
    final class Storage: Sendable {
        @usableFromInline let value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable public init(_ value: Value) { storage = Storage(value) }

    // Yielded, not copied: a getter would copy the whole even to read one part.
    @inlinable public var value: Value {
        _read { yield storage.value }
        _modify {
            var value = storage.value
            defer { storage = Storage(value) }
            yield &value
        }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.storage.value == right.storage.value
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}
