/// The place of a field's value in a record.
///
/// An access through a key path costs some six hundred instructions and a copy of the record, and a task's answer has
/// seventy fields. A stored property is accessed by its offset.
public struct FieldPlace<Record, Value>: Sendable {
    // Made of key paths without captured values only, which never change.
    @usableFromInline nonisolated(unsafe) let path: WritableKeyPath<Record, Value>
    /// The offset of a stored property, or nil for a computed property.
    @usableFromInline let offset: Int?

    @inlinable @inline(__always)
    public init(_ path: any WritableKeyPath<Record, Value> & Sendable) {
        self.path = path
        offset = MemoryLayout<Record>.offset(of: path)
    }

    @inlinable @inline(__always)
    public func value(of record: UnsafePointer<Record>) -> Value {
        guard let offset else { return record.pointee[keyPath: path] }
        return (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: Value.self).pointee
    }

    @inlinable @inline(__always)
    public func set(_ value: Value, in record: UnsafeMutablePointer<Record>) {
        guard let offset else { return record.pointee[keyPath: path] = value }
        (UnsafeMutableRawPointer(record) + offset).assumingMemoryBound(to: Value.self).pointee = value
    }

    @inlinable @inline(__always)
    public func set(_ value: Value, in record: inout Record) {
        withUnsafeMutablePointer(to: &record) { set(value, in: $0) }
    }
}
