import StrictJSON
import XferModel

/// The functions of a field: reading, writing and schema of a value that is stored `offset` bytes from a record's
/// start.
///
/// Only the value's type is a parameter. The compiler then makes these functions once for each type of value; with the
/// record's type as well it would make them for every field of every record, which took it minutes.
struct FieldCode: Sendable {
    /// Reads the value from JSON into the record at the address.
    let decode: @Sendable (JSONValue, WireMode, UnsafeMutableRawPointer) throws(WireError) -> Void
    /// The field's value; nil leaves it out. Records are large, so they are passed by address.
    let read: @Sendable (UnsafeRawPointer) -> JSONValue?
    /// Appends the field with its name to the text of an object; nothing when it is left out.
    let write: @Sendable (UnsafeRawPointer, inout [UInt8]) -> Void
    /// Makes the field absent again; nothing for fields that are always there.
    let clear: @Sendable (UnsafeMutableRawPointer) -> Void
    let schema: @Sendable (inout WireSchemas) -> JSONValue
}

extension FieldCode {
    /// The code of a field that is always there.
    @inline(never)
    static func required<Value: WireValue>(
        _: Value.Type, at offset: Int, _ label: FieldLabel, _ limits: [WireLimit]
    ) -> FieldCode {
        FieldCode { (json, mode, record) throws(WireError) in
            Self.set(try Value.read(json, mode, limits), at: record + offset)
        } read: {
            Self.value(Value.self, at: $0 + offset).wire
        } write: {
            label.write(to: &$1)
            Self.value(Value.self, at: $0 + offset).write(to: &$1)
        } clear: { _ in
        } schema: {
            Self.limited(Value.schema(in: &$0), limits)
        }
    }

    /// The code of a field that may be left out.
    @inline(never)
    static func optional<Value: WireValue>(
        _: Value.Type, at offset: Int, _ label: FieldLabel, _ limits: [WireLimit]
    ) -> FieldCode {
        FieldCode { (json, mode, record) throws(WireError) in
            do throws(WireError) {
                Self.set(Value?.some(try Value.read(json, mode, limits)), at: record + offset)
            } catch {
                guard mode == .lenient, json == .null || error.reason == .unknownValue else { throw error }
                Self.set(Value?.none, at: record + offset)
            }
        } read: {
            Self.value(Value?.self, at: $0 + offset)?.wire
        } write: {
            guard let value = Self.value(Value?.self, at: $0 + offset) else { return }
            label.write(to: &$1)
            value.write(to: &$1)
        } clear: {
            Self.set(Value?.none, at: $0 + offset)
        } schema: {
            Self.limited(Value.schema(in: &$0), limits)
        }
    }

    /// The code of a field that means `initial` when it is left out.
    @inline(never)
    static func defaulted<Value: WireValue>(
        _ initial: Value, at offset: Int, _ label: FieldLabel, _ limits: [WireLimit]
    ) -> FieldCode {
        FieldCode { (json, mode, record) throws(WireError) in
            Self.set(try Value.read(json, mode, limits), at: record + offset)
        } read: {
            Self.value(Value.self, at: $0 + offset).wire
        } write: {
            label.write(to: &$1)
            Self.value(Value.self, at: $0 + offset).write(to: &$1)
        } clear: {
            Self.set(initial, at: $0 + offset)
        } schema: {
            SchemaText.defaulting(Self.limited(Value.schema(in: &$0), limits), to: initial.wire)
        }
    }

    /// The code of a field that is always there, `null` while unknown.
    @inline(never)
    static func nullable<Value: WireValue>(
        _: Value.Type, at offset: Int, _ label: FieldLabel, _ limits: [WireLimit]
    ) -> FieldCode {
        FieldCode { (json, mode, record) throws(WireError) in
            Self.set(json == .null ? Value?.none : try Value.read(json, mode, limits), at: record + offset)
        } read: {
            Self.value(Value?.self, at: $0 + offset)?.wire ?? .null
        } write: {
            label.write(to: &$1)
            if let value = Self.value(Value?.self, at: $0 + offset) {
                value.write(to: &$1)
            } else {
                JSONValue.null.write(to: &$1)
            }
        } clear: { _ in
        } schema: {
            SchemaText.nullable(Self.limited(Value.schema(in: &$0), limits))
        }
    }

    /// The code of a `Patch`; without `isNullable` it cannot be unset.
    @inline(never)
    static func patch<Value: WireValue>(
        _: Value.Type, at offset: Int, _ label: FieldLabel, _ limits: [WireLimit], isNullable: Bool
    ) -> FieldCode {
        FieldCode { (json, mode, record) throws(WireError) in
            guard !isNullable || json != .null else { return Self.set(Patch<Value>.clear, at: record + offset) }
            do throws(WireError) {
                Self.set(Patch.set(try Value.read(json, mode, limits)), at: record + offset)
            } catch {
                guard !isNullable, mode == .lenient, json == .null || error.reason == .unknownValue else { throw error }
                Self.set(Patch<Value>.unchanged, at: record + offset)
            }
        } read: {
            switch Self.value(Patch<Value>.self, at: $0 + offset) {
            case .unchanged: nil
            case .clear: .null
            case .set(let value): value.wire
            }
        } write: {
            switch Self.value(Patch<Value>.self, at: $0 + offset) {
            case .unchanged: return
            case .clear:
                label.write(to: &$1)
                JSONValue.null.write(to: &$1)
            case .set(let value):
                label.write(to: &$1)
                value.write(to: &$1)
            }
        } clear: {
            Self.set(Patch<Value>.unchanged, at: $0 + offset)
        } schema: {
            let schema = Self.limited(Value.schema(in: &$0), limits)
            return isNullable ? SchemaText.nullable(schema) : schema
        }
    }

    @inline(never)
    private static func limited(_ base: JSONValue, _ limits: [WireLimit]) -> JSONValue {
        limits.reduce(base) { SchemaText.extending($0, with: $1.keywords) }
    }

    @inline(__always)
    private static func value<Value>(_: Value.Type, at place: UnsafeRawPointer) -> Value {
        place.assumingMemoryBound(to: Value.self).pointee
    }

    @inline(__always)
    private static func set<Value>(_ value: Value, at place: UnsafeMutableRawPointer) {
        place.assumingMemoryBound(to: Value.self).pointee = value
    }
}
