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

    /// True if clients write this record. If so, its schema refuses unknown fields.
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
        self.init()
        try withUnsafeMutablePointer(to: &self) { (record) throws(WireError) in
            try Self.wireFields.table.decode(value, mode, into: record)
        }
        if mode == .strict { try validate() }
    }

    public var wire: JSONValue { withUnsafePointer(to: self) { Self.wireFields.table.value(of: $0) } }

    public func write(to output: inout [UInt8]) {
        withUnsafePointer(to: self) { Self.wireFields.table.write($0, to: &output) }
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: schemaName, fields: wireFields.table, summary, isInput: isInput)
    }

    /// The type's name with those it is nested in: `TaskAdd.Result` is `TaskAddResult`.
    public static var schemaName: String { WireSchemas.name(of: Self.self) }
}

/// A record's fields with an index by name, at most `FieldSet.capacity` of them.
public struct WireFields<Record: WireRecord>: Sendable, RandomAccessCollection, ExpressibleByArrayLiteral {
    let table: FieldTable

    // A table is made once for each record. The attribute keeps the compiler from making its code for each, too.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    public init(arrayLiteral elements: WireField<Record>...) { self.init(elements) }

    /// Concatenates sections of fields. A section can be shared by several records.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    public init(sections: [WireField<Record>]...) { self.init(sections.flatMap(\.self)) }

    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    public init(_ fields: [WireField<Record>]) {
        var declarations: [FieldDeclaration] = []
        for field in fields { declarations.append(field.declaration) }
        table = FieldTable(declarations, of: Record.self)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { table.fields.count }
    public subscript(position: Int) -> FieldDeclaration { table.fields[position] }

    /// The position of the field with this name.
    public func index(of name: String) -> Int? { table.positions[name] }

    /// Reads the field at the position from JSON.
    func decode(
        _ position: Int, _ value: JSONValue, _ mode: WireMode, into record: inout Record
    ) throws(WireError) {
        try withUnsafeMutablePointer(to: &record) { (record) throws(WireError) in
            try table.decoders[position](value, mode, record)
        }
    }

    /// Makes the field at the position absent again.
    func clear(_ position: Int, in record: inout Record) {
        withUnsafeMutablePointer(to: &record) { table.fields[position].code.clear($0) }
    }

    /// The first field that the record has, of those that satisfy the predicate.
    public func first(in record: Record, where predicate: (String) -> Bool) -> FieldDeclaration? {
        withUnsafePointer(to: record) { record in
            table.fields.first { predicate($0.name) && $0.code.read(record) != nil }
        }
    }

    /// Returns advice for a client that sent an unknown field of this name.
    func suggestion(for name: String) -> String { table.suggestion(for: name) }
}

/// The fields of a record, by position and by name. It knows its record by address only (see `FieldCode`).
final class FieldTable: Sendable {
    let fields: [FieldDeclaration]
    // The functions of the fields, by themselves: to take a whole field out of an array copies it, with a dozen
    // references.
    let decoders: [@Sendable (JSONValue, WireMode, UnsafeMutableRawPointer) throws(WireError) -> Void]
    private let readers: [(name: String, read: @Sendable (UnsafeRawPointer) -> JSONValue?)]
    private let writers: [@Sendable (UnsafeRawPointer, inout [UInt8]) -> Void]
    let positions: [String: Int]
    private let required: FieldSet
    /// The required fields that a lenient reader demands, too.
    private let essential: FieldSet

    init(_ fields: [FieldDeclaration], of record: Any.Type) {
        precondition(fields.count <= FieldSet.capacity, "\(record) has more fields than FieldSet can tell apart")
        self.fields = fields
        decoders = fields.map(\.code.decode)
        readers = fields.map { ($0.name, $0.code.read) }
        writers = fields.map(\.code.write)
        positions = Dictionary(uniqueKeysWithValues: fields.enumerated().map { ($1.name, $0) })
        func set(where isMember: (FieldDeclaration) -> Bool) -> FieldSet {
            fields.enumerated().reduce(into: FieldSet()) { if isMember($1.element) { $0.insert($1.offset) } }
        }
        required = set(where: \.isRequired)
        essential = set { $0.isRequired && !$0.isNullable }
    }

    /// Reads the members of an object into the record at the address.
    func decode(_ value: JSONValue, _ mode: WireMode, into record: UnsafeMutableRawPointer) throws(WireError) {
        guard case .object(let object) = value else { throw .wrongType(expected: "an object") }
        var seen = FieldSet()
        for (key, value) in object.members {
            guard let index = positions[key] else {
                if mode == .lenient { continue }
                throw WireError(.unknownField, at: key, expected: suggestion(for: key))
            }
            do { try decoders[index](value, mode, record) } catch { throw error.under(key) }
            seen.insert(index)
        }
        if let missing = (mode == .lenient ? essential : required).first(notIn: seen) {
            throw WireError(.missing, at: fields[missing].name, expected: "a value for this field")
        }
    }

    /// The record at the address as JSON.
    func value(of record: UnsafeRawPointer) -> JSONValue {
        var object = JSONObject()
        for (name, read) in readers {
            if let value = read(record) { object.append(newKey: name, value) }
        }
        return .object(object)
    }

    /// Appends the record at the address as compact text.
    func write(_ record: UnsafeRawPointer, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for write in writers { write(record, &output) }
        output.append(UInt8(ascii: "}"))
    }

    func schema(_ summary: String, isInput: Bool, in schemas: inout WireSchemas) -> JSONValue {
        var properties = JSONObject()
        for field in fields { properties.append(newKey: field.name, field.schema(in: &schemas)) }
        var schema: JSONObject = ["description": .string(summary), "type": "object"]
        schema.append(newKey: "properties", .object(properties))
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema.append(newKey: "required", .array(required)) }
        if isInput { schema.append(newKey: "additionalProperties", false) }
        return .object(schema)
    }

    /// The fields as parameters of a method.
    func parameters(in schemas: inout WireSchemas) -> [ParameterDescription] {
        fields.map {
            ParameterDescription(
                name: $0.name, documentation: $0.documentation, isRequired: $0.isRequired,
                schema: $0.schema(in: &schemas))
        }
    }

    func suggestion(for name: String) -> String {
        if let close = fields.map(\.name).closest(to: name) { return "a known field; did you mean \"\(close)\"?" }
        return fields.isEmpty ? "no fields" : "one of " + fields.map(\.name).joined(separator: ", ")
    }
}

/// A set of a record's fields, with one bit for each position.
///
/// It has two 64-bit integers and no `UInt128`: where a value of that type is an argument of an asynchronous function
/// and no register is left for it, Swift 6.3 for x86-64 may return to a wrong address, depending on the stack's
/// alignment.
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
