/// The reason for which `JSONParser` rejects a text, and the place in the text.
public struct JSONSyntaxError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case invalidUTF8
        case unexpectedEnd
        /// A byte that the grammar does not allow at this place, for example in a misspelt literal or after a
        /// superfluous comma.
        case unexpectedByte
        /// A number that violates RFC 8259's grammar (a leading zero, a missing digit), or is too large for a double.
        case invalidNumber
        /// A raw control character, an unknown escape or half a surrogate pair.
        case invalidString
        /// Bytes other than white space after the value.
        case trailingBytes
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep(limit: Int)
        /// The value would take more memory than allowed.
        case tooLarge(limit: Int)
        /// One object has the key twice. The associated value is the key, cut to 64 characters.
        case duplicateKey(String)
    }

    public let reason: Reason
    /// Offset of the faulty byte in the text, from 0.
    public let offset: Int
    /// The innermost member or element that was being read, for example `params.tasks[3].url`. Empty at the top level.
    public private(set) var path: String

    public init(_ reason: Reason, offset: Int, path: String = "") {
        self.reason = reason
        self.offset = offset
        self.path = path
    }

    /// The same error, with `key` put before the path: the error is in this member of an enclosing object.
    func within(key: String) -> JSONSyntaxError {
        var error = self
        let separator = path.isEmpty || path.hasPrefix("[") ? "" : "."
        error.path = Self.shortened(key) + separator + path
        return error
    }

    /// The same error, with `[index]` put before the path: the error is in this element of an enclosing array.
    func within(index: Int) -> JSONSyntaxError {
        var error = self
        let separator = path.isEmpty || path.hasPrefix("[") ? "" : "."
        error.path = "[\(index)]" + separator + path
        return error
    }

    /// The key for a message: cut to 64 characters if it is longer than 64 bytes.
    static func shortened(_ key: String) -> String { key.utf8.count <= 64 ? key : String(key.prefix(64)) + "…" }
}

extension JSONSyntaxError: CustomStringConvertible {
    public var description: String {
        let place = path.isEmpty ? "" : " in \(path)"
        return "\(reason) at byte \(offset)\(place)"
    }
}

extension JSONSyntaxError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidUTF8: "invalid UTF-8"
        case .unexpectedEnd: "unexpected end"
        case .unexpectedByte: "unexpected character"
        case .invalidNumber: "invalid number"
        case .invalidString: "invalid string"
        case .trailingBytes: "unexpected text after the value"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooLarge(let limit): "more values than fit into \(limit) bytes of memory"
        case .duplicateKey(let key): "duplicate key \"\(key)\""
        }
    }
}
