/// Why a text is not the JSON this house accepts, and where.
public struct JSONSyntaxError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case invalidUTF8
        case unexpectedEnd
        /// A byte that cannot stand here; also a wrong literal and a comma too many.
        case unexpectedByte
        /// Not RFC 8259's grammar (leading zero, no digit where one has to be), or too large for a double.
        case invalidNumber
        /// A raw control character, an unknown escape or half a surrogate pair.
        case invalidString
        /// Something after the value.
        case trailingBytes
        /// More arrays and objects within each other than allowed.
        case tooDeep(limit: Int)
        /// The key stands twice in one object (cut to 64 characters here).
        case duplicateKey(String)
    }

    public let reason: Reason
    /// Offset of the byte at fault.
    public let offset: Int
    /// The innermost member or element being read, as `params.tasks[3].url`; empty at the top level.
    public private(set) var path: String

    public init(_ reason: Reason, offset: Int, path: String = "") {
        self.reason = reason
        self.offset = offset
        self.path = path
    }

    /// The same error seen from the object that has it in its member `key`.
    func within(key: String) -> JSONSyntaxError {
        var error = self
        let separator = path.isEmpty || path.hasPrefix("[") ? "" : "."
        error.path = Self.shortened(key) + separator + path
        return error
    }

    /// The same error seen from the array that has it in its element `index`.
    func within(index: Int) -> JSONSyntaxError {
        var error = self
        let separator = path.isEmpty || path.hasPrefix("[") ? "" : "."
        error.path = "[\(index)]" + separator + path
        return error
    }

    /// A key as it may stand in a message.
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
        case .trailingBytes: "something after the value"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .duplicateKey(let key): "duplicate key \"\(key)\""
        }
    }
}
