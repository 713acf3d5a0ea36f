extension JSONValue {
    /// Parses one whole JSON text (RFC 8259) from UTF-8 bytes.
    ///
    /// Strict: invalid UTF-8, a byte order mark, lone surrogates, duplicate keys, numbers too large for a double,
    /// anything after the value and nesting deeper than `maxDepth` (at most 512, for the stack's sake) are errors.
    public init(parsing bytes: some Collection<UInt8>, maxDepth: Int = 64) throws(JSONSyntaxError) {
        let inPlace = bytes.withContiguousStorageIfAvailable { Self.parse($0, maxDepth: maxDepth) }
        let result = inPlace ?? Array(bytes).withUnsafeBufferPointer { Self.parse($0, maxDepth: maxDepth) }
        self = try result.get()
    }

    /// Parses one whole JSON text, as `init(parsing:maxDepth:)`.
    public init(parsing text: String, maxDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init(parsing: text.utf8, maxDepth: maxDepth)
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int
    ) -> Result<JSONValue, JSONSyntaxError> {
        var parser = JSONParser(bytes, maxDepth: maxDepth)
        do throws(JSONSyntaxError) {
            return .success(try parser.wholeText())
        } catch {
            return .failure(error)
        }
    }
}

/// Recursive descent over bytes in place: one pass, each string validated once. Lives only as long as `bytes` is valid.
struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let maxDepth: Int
    var position = 0
    /// Where strings with escapes are put together; kept so that its memory is allocated once.
    var unescaped: [UInt8] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int) {
        self.bytes = bytes
        self.maxDepth = Swift.min(maxDepth, 512)
    }

    mutating func wholeText() throws(JSONSyntaxError) -> JSONValue {
        let value = try value(depth: 0)
        skipWhitespace()
        guard position == bytes.count else { throw failure(.trailingBytes) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        switch try nextByte() {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw failure(.unexpectedByte)
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        guard depth <= maxDepth else { throw failure(.tooDeep(limit: maxDepth)) }
        position += 1
        var object = JSONObject()
        if try nextByte() == UInt8(ascii: "}") {
            position += 1
            return object
        }
        while true {
            guard try nextByte() == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
            let keyOffset = position
            let key = try string()
            guard object.position(of: key) == nil else {
                let name = JSONSyntaxError.shortened(key)
                throw JSONSyntaxError(.duplicateKey(name), offset: keyOffset, path: name)
            }
            guard try nextByte() == UInt8(ascii: ":") else { throw failure(.unexpectedByte) }
            position += 1
            do throws(JSONSyntaxError) {
                object.append(newKey: key, try value(depth: depth))
            } catch {
                throw error.within(key: key)
            }
            if try endOfElement(closing: UInt8(ascii: "}")) { return object }
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        guard depth <= maxDepth else { throw failure(.tooDeep(limit: maxDepth)) }
        position += 1
        var elements: [JSONValue] = []
        if try nextByte() == UInt8(ascii: "]") {
            position += 1
            return elements
        }
        while true {
            do throws(JSONSyntaxError) {
                elements.append(try value(depth: depth))
            } catch {
                throw error.within(index: elements.count)
            }
            if try endOfElement(closing: UInt8(ascii: "]")) { return elements }
        }
    }

    /// Past a comma: false. Past the closing bracket: true.
    private mutating func endOfElement(closing: UInt8) throws(JSONSyntaxError) -> Bool {
        let byte = try nextByte()
        guard byte == closing || byte == UInt8(ascii: ",") else { throw failure(.unexpectedByte) }
        position += 1
        return byte == closing
    }

    private mutating func literal(_ name: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for offset in 0..<name.utf8CodeUnitCount {
            guard position < bytes.count else { throw failure(.unexpectedEnd) }
            guard bytes[position] == name.utf8Start[offset] else { throw failure(.unexpectedByte) }
            position += 1
        }
        return value
    }

    /// The next byte that is no white space, not consumed.
    private mutating func nextByte() throws(JSONSyntaxError) -> UInt8 {
        skipWhitespace()
        guard position < bytes.count else { throw failure(.unexpectedEnd) }
        return bytes[position]
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    func failure(_ reason: JSONSyntaxError.Reason) -> JSONSyntaxError { JSONSyntaxError(reason, offset: position) }
}
