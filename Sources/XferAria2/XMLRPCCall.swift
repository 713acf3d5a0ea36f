public import StrictJSON

/// The reason why an XML-RPC message was refused.
public struct XMLRPCFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A call of XML-RPC (xmlrpc.com/spec): a method and parameters, as JSON values.
///
/// The reader supports the specification's subset of XML only: no document types, entities of its own, name spaces or
/// processing instructions after the declaration.
public struct XMLRPCCall: Hashable, Sendable {
    public let method: String
    public let params: [JSONValue]

    /// The deepest nesting of arrays and structs.
    private static let maxDepth = 16
    /// The highest number of values of a message.
    private static let maxValues = 20_000

    public init(parsing text: [UInt8]) throws(XMLRPCFault) {
        var reader = XMLReader(text)
        try reader.skipDeclaration()
        try reader.open("methodCall")
        try reader.open("methodName")
        method = try reader.text(until: "methodName")
        var values: [JSONValue] = []
        if try reader.opens("params") {
            var budget = Self.maxValues
            while try reader.opens("param") {
                values.append(try Self.value(&reader, depth: 0, &budget))
                try reader.close("param")
            }
            try reader.close("params")
        }
        try reader.close("methodCall")
        try reader.end()
        params = values
    }

    private static func value(
        _ reader: inout XMLReader, depth: Int, _ budget: inout Int
    ) throws(XMLRPCFault) -> JSONValue {
        guard depth <= maxDepth else { throw XMLRPCFault("values are nested deeper than \(maxDepth)") }
        budget -= 1
        guard budget > 0 else { throw XMLRPCFault("more than \(maxValues) values") }
        if try reader.isEmptyElement("value") { return "" }
        try reader.open("value")
        // A value without a type is a string.
        guard let type = try reader.nextOpening() else { return .string(try reader.text(until: "value")) }
        let value: JSONValue
        switch type {
        case "array": value = try array(&reader, depth: depth, &budget)
        case "struct": value = try structure(&reader, depth: depth, &budget)
        default: value = try scalar(&reader, type)
        }
        try reader.close("value")
        return value
    }

    private static func scalar(_ reader: inout XMLReader, _ type: String) throws(XMLRPCFault) -> JSONValue {
        if type == "string" || type == "base64", try reader.isEmptyElement(type) { return "" }
        if type == "nil", try reader.isEmptyElement(type) { return .null }
        try reader.open(type)
        let text = try reader.text(until: type)
        switch type {
        case "string": return .string(text)
        // aria2 takes files as base64, in JSON as strings.
        case "base64": return .string(text.filter { !$0.isWhitespace })
        case "i4", "int", "i8":
            guard let number = Int64(text, radix: 10) else { throw XMLRPCFault("expected an integer in \(type)") }
            return .integer(number)
        case "boolean":
            guard text == "0" || text == "1" else { throw XMLRPCFault("expected 0 or 1 in boolean") }
            return .bool(text == "1")
        case "double":
            guard let number = Double(text), number.isFinite else { throw XMLRPCFault("expected a number in double") }
            return .number(JSONNumber(number))
        default: throw XMLRPCFault("there is no type \(type.prefix(40))")
        }
    }

    private static func array(
        _ reader: inout XMLReader, depth: Int, _ budget: inout Int
    ) throws(XMLRPCFault) -> JSONValue {
        try reader.open("array")
        var values: [JSONValue] = []
        if try !reader.isEmptyElement("data") {
            try reader.open("data")
            while try !reader.closes("data") { values.append(try value(&reader, depth: depth + 1, &budget)) }
        }
        try reader.close("array")
        return .array(values)
    }

    private static func structure(
        _ reader: inout XMLReader, depth: Int, _ budget: inout Int
    ) throws(XMLRPCFault) -> JSONValue {
        if try reader.isEmptyElement("struct") { return .object([:]) }
        try reader.open("struct")
        var object = JSONObject()
        // Searching the object for each name would take time by the square of their number.
        var names: Set<String> = []
        while try reader.opens("member") {
            try reader.open("name")
            let name = try reader.text(until: "name")
            guard names.insert(name).inserted else { throw XMLRPCFault("a struct has two members \(name.prefix(40))") }
            object.append(newKey: name, try value(&reader, depth: depth + 1, &budget))
            try reader.close("member")
        }
        try reader.close("struct")
        return .object(object)
    }
}
