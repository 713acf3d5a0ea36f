public import StrictJSON
public import XferModel

/// One declaration of a record's field: strict reading, writing, schema and documentation follow from it.
public struct FieldDeclaration: Sendable {
    public let name: String
    /// One or two sentences: meaning, unit, default.
    public let documentation: String
    /// True if the object must have the field.
    public let isRequired: Bool
    /// True if the field is `null` while its value is unknown. A lenient reader takes a missing one for `null`: the
    /// answer of an older daemon may leave it out.
    fileprivate(set) var isNullable = false
    public let example: JSONValue?
    /// The values of the field that guests may set; nil means all.
    public fileprivate(set) var access: FieldAccess?
    let code: FieldCode

    /// The field's schema with its documentation.
    func schema(in schemas: inout WireSchemas) -> JSONValue {
        var keywords: JSONObject = ["description": .string(documentation)]
        if let example { keywords.append(newKey: "examples", [example]) }
        if let access { keywords.append(newKey: "x-access", .string(access.rawValue)) }
        return SchemaText.extending(code.schema(&schemas), with: keywords)
    }
}

/// A field's declaration with the type of its record. Fields are stored properties.
public struct WireField<Record: WireRecord>: Sendable {
    var declaration: FieldDeclaration

    /// The same field, of which guests may not set some or all values.
    public func restricted(to access: FieldAccess) -> WireField {
        var field = self
        field.declaration.access = access
        return field
    }

    /// Declares a field that is always present.
    @inline(never)
    public static func required<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let code = FieldCode.required(Value.self, at: offset(of: path), FieldLabel(name), limits)
        return WireField(name, documentation, isRequired: true, example: example, code)
    }

    /// Declares a field that may be left out; `null` is refused where clients write, so that it can get a meaning
    /// later.
    @inline(never)
    public static func optional<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value?> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let code = FieldCode.optional(Value.self, at: offset(of: path), FieldLabel(name), limits)
        return WireField(name, documentation, isRequired: false, example: example, code)
    }

    /// Declares an optional field. If it is left out, it keeps the value of the record's `init()`.
    @inline(never)
    public static func defaulted<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let code = FieldCode.defaulted(
            Record()[keyPath: path], at: offset(of: path), FieldLabel(name), limits)
        return WireField(name, documentation, isRequired: false, example: example, code)
    }

    /// Declares a field that is always present, and `null` while unknown.
    @inline(never)
    public static func nullable<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Value?> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let code = FieldCode.nullable(Value.self, at: offset(of: path), FieldLabel(name), limits)
        var field = WireField(name, documentation, isRequired: true, example: example, code)
        field.declaration.isNullable = true
        return field
    }

    /// Declares a field that may be left out (nothing changes), be `null` (unset), or have a value.
    @inline(never)
    public static func patch<Value: WireValue>(
        _ name: String, _ path: any WritableKeyPath<Record, Patch<Value>> & Sendable, _ documentation: String,
        _ limits: WireLimit..., example: JSONValue? = nil
    ) -> WireField {
        let code = FieldCode.patch(Value.self, at: offset(of: path), FieldLabel(name), limits, isNullable: true)
        return WireField(name, documentation, isRequired: false, example: example, code)
    }

    /// The offset of a stored part in the record.
    static func offset<Part>(of path: WritableKeyPath<Record, Part>) -> Int {
        guard let offset = MemoryLayout<Record>.offset(of: path) else {
            preconditionFailure("a field of \(Record.self) is not stored in it")
        }
        return offset
    }

    init(_ name: String, _ documentation: String, isRequired: Bool, example: JSONValue?, _ code: FieldCode) {
        declaration = FieldDeclaration(
            name: name, documentation: documentation, isRequired: isRequired, example: example, access: nil, code: code)
    }
}

extension WireValue {
    /// The value if it has its type's form and is within the limits; a lenient reader ignores the limits.
    static func read(_ json: JSONValue, _ mode: WireMode, _ limits: [WireLimit]) throws(WireError) -> Self {
        // The type first: "expected a string" says more than a length.
        let value: Self
        do throws(WireError) {
            value = try Self(wire: json, mode: mode)
        } catch {
            throw mode == .strict ? WireLimit.narrower(error, json, limits) : error
        }
        if mode == .strict, !limits.isEmpty { try WireLimit.check(json, limits) }
        return value
    }
}

/// A field's name in the form of an object's text.
struct FieldLabel: Sendable {
    /// The text with quotes and colon, and a comma before it.
    private let text: [UInt8]
    private let firstText: [UInt8]

    init(_ name: String) {
        var text = Array(",".utf8)
        text.appendJSON(name)
        text.append(UInt8(ascii: ":"))
        self.text = text
        firstText = Array(text.dropFirst())
    }

    /// Appends the label to an object's text, without the comma after the opening bracket.
    func write(to output: inout [UInt8]) {
        output.append(contentsOf: output.last == UInt8(ascii: "{") ? firstText : text)
    }
}

/// The values of a field that a guest may set, while an operator may set more.
///
/// The daemon refuses a guest's other values when it admits the request. As a guest, a test sets a refused value in
/// each field that declares one.
public enum FieldAccess: String, Sendable, CaseIterable {
    /// A guest may not set any value: the answer is `permission_denied`.
    case operators
    /// Paths beneath the roots granted to the guest that the guest itself could read or write: for others the answer is
    /// `permission_denied`.
    case ownFiles = "own_files"
    /// Hooks and webhooks that are configured for guests: for others the answer is the one for a name that does not
    /// exist.
    case guestHooks = "guest_hooks"
    /// Up to the priority granted to the guest: for higher ones the answer is `permission_denied`.
    case grantedPriority = "granted_priority"
    /// The guest's own uid: objects of others are not found.
    case ownUID = "own_uid"
    /// The rule for a guest's task with a profile that has secrets: it may only set values that cannot send them to a
    /// server other than the profile's. Otherwise the answer is `permission_denied`.
    case noProfileSecrets = "no_profile_secrets"

    /// A sentence for the reference.
    public var summary: String {
        switch self {
        case .operators: "Operators only."
        case .ownFiles: "For guests: only files beneath their roots that their account may use."
        case .guestHooks: "For guests: only hooks and webhooks that are configured for guests."
        case .grantedPriority: "Guests may set at most the priority granted to them."
        case .ownUID: "Guests may specify only themselves."
        case .noProfileSecrets: "Guests may not use it to send a profile's secrets elsewhere."
        }
    }
}
