import StrictJSON
import XferModel

/// How a `Patch`, a stored property of `Owner`, is read and written.
///
/// The type of its value is known where the form is made. What runs for each task therefore looks no type up, which would
/// cost more than the field itself.
struct PatchForm<Owner>: Sendable {
    let decode:
        @Sendable (JSONValue, WireMode, [WireLimit], _ isNullable: Bool, UnsafeMutablePointer<Owner>) throws(WireError)
            -> Void
    let read: @Sendable (UnsafePointer<Owner>) -> JSONValue?
    let write: @Sendable (FieldLabel, UnsafePointer<Owner>, inout [UInt8]) -> Void
    let clear: @Sendable (UnsafeMutablePointer<Owner>) -> Void
    let schema: @Sendable (inout WireSchemas) -> JSONValue

    @inline(__always)
    init<Value: WireValue>(_ path: any WritableKeyPath<Owner, Patch<Value>> & Sendable) {
        let place = FieldPlace(path)
        decode = { (json, mode, limits, isNullable, owner) throws(WireError) in
            guard !isNullable || json != .null else { return place.set(.clear, in: owner) }
            do throws(WireError) {
                place.set(.set(try Value.read(json, mode, limits)), in: owner)
            } catch {
                guard !isNullable, mode == .lenient, json == .null || error.reason == .unknownValue else { throw error }
                place.set(.unchanged, in: owner)
            }
        }
        read = {
            switch place.value(of: $0) {
            case .unchanged: nil
            case .clear: .null
            case .set(let value): value.wire
            }
        }
        write = { label, owner, output in
            switch place.value(of: owner) {
            case .unchanged: return
            case .clear:
                label.write(to: &output)
                JSONValue.null.write(to: &output)
            case .set(let value):
                label.write(to: &output)
                value.write(to: &output)
            }
        }
        clear = { place.set(.unchanged, in: $0) }
        schema = { Value.schema(in: &$0) }
    }
}

extension WireField {
    /// A patch of a part of the record, `offset` bytes from its start; without `isNullable` it cannot be unset.
    static func patch<Part>(
        _ name: String, _ form: PatchForm<Part>, at offset: Int, _ documentation: String, _ limits: [WireLimit],
        isNullable: Bool, example: JSONValue?
    ) -> WireField {
        let label = FieldLabel(name)
        return WireField(name: name, documentation: documentation, isRequired: false, example: example) {
            (json, mode, record) throws(WireError) in
            try withUnsafeMutablePointer(to: &record) { (record) throws(WireError) in
                try form.decode(json, mode, limits, isNullable, Self.part(of: record, at: offset))
            }
        } read: {
            form.read(Self.part(of: $0, at: offset))
        } write: {
            form.write(label, Self.part(of: $0, at: offset), &$1)
        } clear: {
            withUnsafeMutablePointer(to: &$0) { form.clear(Self.part(of: $0, at: offset)) }
        } buildSchema: {
            let schema = limited(form.schema(&$0), limits)
            return isNullable ? SchemaText.nullable(schema) : schema
        }
    }

    private static func part<Part>(of record: UnsafePointer<Record>, at offset: Int) -> UnsafePointer<Part> {
        (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: Part.self)
    }

    private static func part<Part>(
        of record: UnsafeMutablePointer<Record>, at offset: Int
    ) -> UnsafeMutablePointer<Part> {
        (UnsafeMutableRawPointer(record) + offset).assumingMemoryBound(to: Part.self)
    }
}
