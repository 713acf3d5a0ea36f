public import StrictJSON
public import XferModel

/// One declaration of a record's field: strict reading, writing, schema and documentation follow from it.
public struct WireField<Record: WireRecord>: Sendable {
    public let name: String
    /// One or two sentences: meaning, unit, default.
    public let documentation: String
    /// Whether the object must have the field.
    public let isRequired: Bool
    public let example: JSONValue?
    /// Which of its values guests may give; nil if all.
    public private(set) var access: FieldAccess?
    let decode: Decoder
    /// The field's value; nil leaves it out. Records are large: they are handed about by address.
    let read: Reader
    /// Appends the field with its name to the text of an object; nothing when it is left out.
    let write: Writer
    /// Makes the field absent again; nothing for fields that are always there.
    let clear: @Sendable (inout Record) -> Void
    private let buildSchema: @Sendable (inout WireSchemas) -> JSONValue

    typealias Decoder = @Sendable (JSONValue, WireMode, inout Record) throws(WireError) -> Void
    typealias Reader = @Sendable (UnsafePointer<Record>) -> JSONValue?
    typealias Writer = @Sendable (UnsafePointer<Record>, inout [UInt8]) -> Void

    /// The field's value; nil leaves it out.
    func encode(_ record: Record) -> JSONValue? { withUnsafePointer(to: record) { read($0) } }

    /// The field's schema with its documentation.
    func schema(in schemas: inout WireSchemas) -> JSONValue {
        var keywords: JSONObject = ["description": .string(documentation)]
        if let example { keywords.append(newKey: "examples", [example]) }
        if let access { keywords.append(newKey: "x-access", .string(access.rawValue)) }
        return SchemaText.extending(buildSchema(&schemas), with: keywords)
    }

    /// The same field, some or all values of which guests may not give.
    public func restricted(to access: FieldAccess) -> WireField {
        var field = self
        field.access = access
        return field
    }

    /// Always there.
    public static func required<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let (place, label) = (FieldPlace(path), FieldLabel(name))
        return WireField(name: name, documentation: documentation, isRequired: true, example: example) {
            (json, mode, record) throws(WireError) in
            record[keyPath: path] = try Value.read(json, mode, limits)
        } read: {
            place.value(of: $0).wire
        } write: {
            label.write(to: &$1)
            place.value(of: $0).write(to: &$1)
        } clear: { _ in
        } buildSchema: {
            limited(Value.schema(in: &$0), limits)
        }
    }

    /// May be left out; `null` is refused where clients write, so that it can get a meaning later.
    public static func optional<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value?> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let (place, label) = (FieldPlace(path), FieldLabel(name))
        return WireField(name: name, documentation: documentation, isRequired: false, example: example) {
            (json, mode, record) throws(WireError) in
            do throws(WireError) {
                record[keyPath: path] = try Value.read(json, mode, limits)
            } catch {
                guard mode == .lenient, json == .null || error.reason == .unknownValue else { throw error }
                record[keyPath: path] = nil
            }
        } read: {
            place.value(of: $0)?.wire
        } write: {
            guard let value = place.value(of: $0) else { return }
            label.write(to: &$1)
            value.write(to: &$1)
        } clear: {
            $0[keyPath: path] = nil
        } buildSchema: {
            limited(Value.schema(in: &$0), limits)
        }
    }

    /// May be left out, which means what the record's `init()` sets.
    public static func defaulted<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let (place, label) = (FieldPlace(path), FieldLabel(name))
        return WireField(name: name, documentation: documentation, isRequired: false, example: example) {
            (json, mode, record) throws(WireError) in
            record[keyPath: path] = try Value.read(json, mode, limits)
        } read: {
            place.value(of: $0).wire
        } write: {
            label.write(to: &$1)
            place.value(of: $0).write(to: &$1)
        } clear: {
            $0[keyPath: path] = Record()[keyPath: path]
        } buildSchema: {
            let keywords: JSONObject = ["default": Record()[keyPath: path].wire]
            return SchemaText.extending(limited(Value.schema(in: &$0), limits), with: keywords)
        }
    }

    /// Always there, `null` while unknown.
    public static func nullable<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value?> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let (place, label) = (FieldPlace(path), FieldLabel(name))
        return WireField(name: name, documentation: documentation, isRequired: true, example: example) {
            (json, mode, record) throws(WireError) in
            record[keyPath: path] = json == .null ? nil : try Value.read(json, mode, limits)
        } read: {
            place.value(of: $0)?.wire ?? .null
        } write: {
            label.write(to: &$1)
            if let value = place.value(of: $0) { value.write(to: &$1) } else { JSONValue.null.write(to: &$1) }
        } clear: { _ in
        } buildSchema: {
            SchemaText.nullable(limited(Value.schema(in: &$0), limits))
        }
    }

    /// May be left out (nothing changes), be `null` (unset), or have a value.
    public static func patch<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Patch<Value>> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        patch(name, PatchForm(path), at: 0, documentation, limits, isNullable: true, example: example)
    }

    static func limited(_ base: JSONValue, _ limits: [WireLimit]) -> JSONValue {
        limits.reduce(base) { SchemaText.extending($0, with: $1.keywords) }
    }

    init(
        name: String, documentation: String, isRequired: Bool, example: JSONValue?,
        decode: @escaping Decoder, read: @escaping Reader, write: @escaping Writer,
        clear: @escaping @Sendable (inout Record) -> Void,
        buildSchema: @escaping @Sendable (inout WireSchemas) -> JSONValue
    ) {
        self.name = name
        self.documentation = documentation
        self.isRequired = isRequired
        self.example = example
        self.decode = decode
        self.read = read
        self.write = write
        self.clear = clear
        self.buildSchema = buildSchema
    }
}

extension WireValue {
    /// The value if it has its type's form and keeps to the limits; a lenient reader does not ask for the limits.
    static func read(_ json: JSONValue, _ mode: WireMode, _ limits: [WireLimit]) throws(WireError) -> Self {
        // The type first: "expected a string" says more than a length.
        let value: Self
        do throws(WireError) {
            value = try Self(wire: json, mode: mode)
        } catch {
            // The field's own range says more than its type's.
            if mode == .strict, error.reason == .outOfRange { for limit in limits { try limit.check(json) } }
            throw error
        }
        if mode == .strict { for limit in limits { try limit.check(json) } }
        return value
    }
}

/// A field's name as it stands in an object's text.
struct FieldLabel: Sendable {
    /// With quotes and colon, a comma before it; and without that.
    private let text: [UInt8]
    private let firstText: [UInt8]

    init(_ name: String) {
        var text = Array(",".utf8)
        text.appendJSON(name)
        text.append(UInt8(ascii: ":"))
        self.text = text
        firstText = Array(text.dropFirst())
    }

    /// Appends it to what begins with the object's bracket.
    func write(to output: inout [UInt8]) {
        output.append(contentsOf: output.last == UInt8(ascii: "{") ? firstText : text)
    }
}

/// Which values of a field a guest may give, where that is less than an operator may.
///
/// The daemon refuses a guest's other values when it admits the request. A test gives a refused value to each field that
/// declares one, as a guest.
public enum FieldAccess: String, Sendable, CaseIterable {
    /// None: the answer is `permission_denied`.
    case operators
    /// Paths beneath the roots granted to the guest that the guest itself could read or write: for others the answer is
    /// `permission_denied`.
    case ownFiles = "own_files"
    /// Hooks and webhooks that are configured for guests: for others the answer is the one for a name that does not exist.
    case guestHooks = "guest_hooks"
    /// Up to the priority granted to the guest: for higher ones the answer is `permission_denied`.
    case grantedPriority = "granted_priority"
    /// The guest's own uid: what belongs to another is not found.
    case ownUID = "own_uid"
    /// With a profile that has secrets, only what cannot send them to another server than the profile does: otherwise
    /// the answer is `permission_denied`.
    case noProfileSecrets = "no_profile_secrets"

    /// A sentence for the reference.
    public var summary: String {
        switch self {
        case .operators: "Operators only."
        case .ownFiles: "Guests may name only files beneath their roots that they could use themselves."
        case .guestHooks: "Guests may name only hooks and webhooks that are configured for guests."
        case .grantedPriority: "Guests may give at most the priority granted to them."
        case .ownUID: "Guests may name only themselves."
        case .noProfileSecrets: "Guests may not send a profile's secrets elsewhere with it."
        }
    }
}
