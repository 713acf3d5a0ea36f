public import StrictJSON

extension Array: WireValue where Element: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .array(let values) = value else { throw .wrongType(expected: "an array") }
        self = []
        reserveCapacity(values.count)
        for value in values {
            do { append(try Element(wire: value, mode: mode)) } catch { throw error.under(count) }
        }
    }

    public var wire: JSONValue { .array(map(\.wire)) }

    public func write(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (index, element) in enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            element.write(to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        SchemaText.array(of: Element.schema(in: &schemas))
    }
}

/// One value or an array of them: `"state": "queued"` as well as `"state": ["queued", "waiting"]`.
public struct OneOrMany<Element: WireValue>: WireValue, ExpressibleByArrayLiteral {
    public var values: [Element]

    public init(_ values: [Element]) { self.values = values }
    public init(arrayLiteral elements: Element...) { values = elements }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        if case .array = value {
            values = try [Element](wire: value, mode: mode)
        } else {
            values = [try Element(wire: value, mode: mode)]
        }
    }

    /// A single value is written bare.
    public var wire: JSONValue { values.count == 1 ? values[0].wire : values.wire }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        let element = Element.schema(in: &schemas)
        return SchemaText.either(element, SchemaText.array(of: element))
    }
}

extension OneOrMany: Equatable where Element: Equatable {}
extension OneOrMany: Hashable where Element: Hashable {}
