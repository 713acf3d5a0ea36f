/// The place of a field's value in a record.
///
/// An access through a key path costs some six hundred instructions and a copy of the record, and a task's answer has
/// seventy fields. A stored property is accessed by its offset.
public struct FieldPlace<Record, Value>: Sendable {
    // Made of key paths without captured values only, which never change.
    @usableFromInline nonisolated(unsafe) let path: WritableKeyPath<Record, Value>
    /// Nil for a computed property.
    @usableFromInline let offset: Int?

    @inlinable
    public init(_ path: any WritableKeyPath<Record, Value> & Sendable) {
        self.path = path
        offset = MemoryLayout<Record>.offset(of: path)
    }

    /// A field of a part of the record.
    @inlinable
    public init<Part>(
        _ part: any WritableKeyPath<Record, Part> & Sendable, _ field: any WritableKeyPath<Part, Value> & Sendable
    ) {
        let (outer, inner): (WritableKeyPath<Record, Part>, WritableKeyPath<Part, Value>) = (part, field)
        path = outer.appending(path: inner)
        offset = MemoryLayout<Record>.offset(of: path)
    }

    @inlinable
    public func value(of record: UnsafePointer<Record>) -> Value {
        guard let offset else { return record.pointee[keyPath: path] }
        return (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: Value.self).pointee
    }

    @inlinable
    public func set(_ value: Value, in record: UnsafeMutablePointer<Record>) {
        guard let offset else { return record.pointee[keyPath: path] = value }
        (UnsafeMutableRawPointer(record) + offset).assumingMemoryBound(to: Value.self).pointee = value
    }

    @inlinable
    public func set(_ value: Value, in record: inout Record) {
        withUnsafeMutablePointer(to: &record) { set(value, in: $0) }
    }
}
