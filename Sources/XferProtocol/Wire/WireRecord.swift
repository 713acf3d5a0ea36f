public import StrictJSON

/// A JSON object with known fields, declared once in `wireFields`.
public protocol WireRecord: WireValue {
    /// Creates a record in which all fields have their defaults. Reading a value then overwrites the required fields.
    init()

    /// The fields in the order in which they are written. Declare it as a stored `static let`: every read looks fields
    /// up in it.
    static var wireFields: WireFields<Self> { get }

    /// The record's description in the schema, one sentence.
    static var summary: String { get }

    /// Whether clients write this record. If so, its schema refuses unknown fields.
    static var isInput: Bool { get }

    /// Checks rules that concern several fields. It is called after a strict read.
    func validate() throws(WireError)
}

/// A record that clients write.
public protocol WireInput: WireRecord {}

extension WireInput {
    public static var isInput: Bool { true }
}

extension WireRecord {
    public static var isInput: Bool { false }
    public func validate() throws(WireError) {}

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .object(let object) = value else { throw .wrongType(expected: "an object") }
        self.init()
        let fields = Self.wireFields
        var seen = FieldSet()
        for (key, value) in object.members {
            guard let index = fields.index(of: key) else {
                if mode == .lenient { continue }
                throw WireError(.unknownField, at: key, expected: fields.suggestion(for: key))
            }
            do { try fields.decoders[index](value, mode, &self) } catch { throw error.under(key) }
            seen.insert(index)
        }
        if let missing = fields.firstRequired(notIn: seen) {
            throw WireError(.missing, at: missing.name, expected: "the field to be given")
        }
        if mode == .strict { try validate() }
    }

    public var wire: JSONValue {
        var object = JSONObject()
        withUnsafePointer(to: self) { record in
            for (name, read) in Self.wireFields.readers {
                if let value = read(record) { object.append(newKey: name, value) }
            }
        }
        return .object(object)
    }

    public func write(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        withUnsafePointer(to: self) { record in
            for write in Self.wireFields.writers { write(record, &output) }
        }
        output.append(UInt8(ascii: "}"))
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: schemaName) { objectSchema(in: &$0) }
    }

    /// The object's schema itself, without a reference.
    static func objectSchema(in schemas: inout WireSchemas) -> JSONValue {
        var properties = JSONObject()
        for field in wireFields { properties.append(newKey: field.name, field.schema(in: &schemas)) }
        var schema: JSONObject = ["description": .string(summary), "type": "object"]
        schema.append(newKey: "properties", .object(properties))
        let required = wireFields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema.append(newKey: "required", .array(required)) }
        if isInput { schema.append(newKey: "additionalProperties", false) }
        return .object(schema)
    }

    /// The type's name with those it is nested in: `TaskAdd.Result` is `TaskAddResult`.
    public static var schemaName: String { WireSchemas.name(of: Self.self) }
}

/// A record's fields with an index by name, at most `FieldSet.capacity` of them.
public struct WireFields<Record: WireRecord>: Sendable, RandomAccessCollection, ExpressibleByArrayLiteral {
    let fields: [WireField<Record>]
    // The functions of the fields, by themselves: to take a whole field out of an array copies it, with a dozen references.
    let decoders: [WireField<Record>.Decoder]
    let readers: [(name: String, read: WireField<Record>.Reader)]
    let writers: [WireField<Record>.Writer]
    private let positions: [String: Int]
    private let required: FieldSet

    public init(arrayLiteral elements: WireField<Record>...) { self.init(elements) }

    /// Concatenates sections of fields. A section can be shared by several records.
    public init(sections: [WireField<Record>]...) { self.init(sections.flatMap(\.self)) }

    public init(_ fields: [WireField<Record>]) {
        precondition(fields.count <= FieldSet.capacity, "\(Record.self) has more fields than FieldSet can tell apart")
        self.fields = fields
        decoders = fields.map(\.decode)
        readers = fields.map { ($0.name, $0.read) }
        writers = fields.map(\.write)
        positions = Dictionary(uniqueKeysWithValues: fields.enumerated().map { ($1.name, $0) })
        required = fields.enumerated().reduce(into: FieldSet()) { if $1.element.isRequired { $0.insert($1.offset) } }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(position: Int) -> WireField<Record> { fields[position] }

    /// The position of the field with this name.
    public func index(of name: String) -> Int? { positions[name] }

    func firstRequired(notIn seen: FieldSet) -> WireField<Record>? {
        required.first(notIn: seen).map { fields[$0] }
    }

    func suggestion(for name: String) -> String {
        if let close = fields.map(\.name).closest(to: name) { return "a known field; did you mean \"\(close)\"?" }
        return fields.isEmpty ? "no fields" : "one of " + fields.map(\.name).joined(separator: ", ")
    }
}

/// A set of a record's fields, with one bit for each position.
///
/// Two words and no `UInt128`: where a value of that type is an argument of an asynchronous function and no register is
/// left for it, Swift 6.3 for x86-64 may return to a wrong address, depending on the stack's alignment.
struct FieldSet: Hashable, Sendable {
    /// The highest number of fields of a record.
    static let capacity = 128

    private var low: UInt64 = 0
    private var high: UInt64 = 0

    func contains(_ position: Int) -> Bool {
        let word = position < 64 ? low : high
        return word & 1 << UInt64(truncatingIfNeeded: position & 63) != 0
    }

    mutating func insert(_ position: Int) {
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: position & 63)
        if position < 64 { low |= bit } else { high |= bit }
    }

    /// The lowest position in this set that is not in `other`.
    func first(notIn other: FieldSet) -> Int? {
        let (low, high) = (low & ~other.low, high & ~other.high)
        if low != 0 { return low.trailingZeroBitCount }
        return high == 0 ? nil : 64 + high.trailingZeroBitCount
    }
}
