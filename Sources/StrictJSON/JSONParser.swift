extension JSONValue {
    /// Parses one whole JSON text (RFC 8259) from UTF-8 bytes.
    ///
    /// These are errors: invalid UTF-8, a byte order mark, lone surrogates, duplicate keys, numbers too large for a
    /// double, bytes after the value, nesting deeper than `maxDepth`, and a value that would take more memory than
    /// `maxMemory`. A `maxDepth` above 512 counts as 512, because the parser is recursive and must not exhaust the stack.
    ///
    /// - Parameter maxMemory: bytes, beside those of the strings, which are as long as in the text. They are estimated
    ///   from the numbers of elements and members: a short text can have millions.
    public init(
        parsing bytes: some Collection<UInt8>, maxDepth: Int = 64, maxMemory: Int = .max
    ) throws(JSONSyntaxError) {
        let inPlace = bytes.withContiguousStorageIfAvailable {
            Self.parse($0, maxDepth: maxDepth, maxMemory: maxMemory)
        }
        let result =
            inPlace
            ?? Array(bytes).withUnsafeBufferPointer { Self.parse($0, maxDepth: maxDepth, maxMemory: maxMemory) }
        self = try result.get()
    }

    /// Parses one whole JSON text under the same rules as the initialiser for bytes.
    public init(parsing text: String, maxDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init(parsing: text.utf8, maxDepth: maxDepth)
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int, maxMemory: Int
    ) -> Result<JSONValue, JSONSyntaxError> {
        var parser = JSONParser(bytes, maxDepth: maxDepth, maxMemory: maxMemory)
        do throws(JSONSyntaxError) {
            return .success(try parser.wholeText())
        } catch {
            return .failure(error)
        }
    }
}

/// A recursive descent parser. It makes one pass, does not copy the bytes, and validates each string once. Do not use
/// it after `bytes` has become invalid.
struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let maxDepth: Int
    let maxMemory: Int
    var position = 0
    /// The estimated memory of the elements and members so far.
    private var memory = 0
    /// Buffer for strings with escapes. Reusing it saves an allocation for each string.
    var unescaped: [UInt8] = []

    // The memory of an element of an array that grows, of a member of an object, of the member's place in the index, and
    // of the block that a container with content has.
    private static var elementMemory: Int { 2 * MemoryLayout<JSONValue>.stride }
    private static var memberMemory: Int { 2 * MemoryLayout<(String, JSONValue)>.stride }
    private static var indexMemory: Int { 64 }
    private static var blockMemory: Int { 48 }

    init(_ bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int, maxMemory: Int = .max) {
        self.bytes = bytes
        self.maxMemory = maxMemory
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
        try claim(Self.blockMemory)
        while true {
            try claim(Self.memberMemory + (object.count < JSONObject.searchedInLine ? 0 : Self.indexMemory))
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
        try claim(Self.blockMemory)
        while true {
            try claim(Self.elementMemory)
            do throws(JSONSyntaxError) {
                elements.append(try value(depth: depth))
            } catch {
                throw error.within(index: elements.count)
            }
            if try endOfElement(closing: UInt8(ascii: "]")) { return elements }
        }
    }

    /// Counts memory that the next value takes. The sum cannot overflow: it is a small multiple of the text's length.
    private mutating func claim(_ count: Int) throws(JSONSyntaxError) {
        memory += count
        guard memory <= maxMemory else { throw failure(.tooLarge(limit: maxMemory)) }
    }

    /// Consumes what follows an element. Returns false for a comma and true for the closing bracket.
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

    /// Skips white space and returns the next byte without consuming it.
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
