/// Why a JSON value is not what the wire asks for: which field, what is wrong, and what was expected.
///
/// Never quotes the refused value, which may be a secret.
public struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed list of faults, as `data.reason` of −32602 names them.
    public enum Reason: String, Sendable, CaseIterable {
        case unknownField = "unknown_field"
        case missing
        case wrongType = "wrong_type"
        case outOfRange = "out_of_range"
        /// Not one of an enumeration's words.
        case unknownValue = "unknown_value"
        /// The right type, yet not of the form asked for: a checksum's text, a header's name.
        case invalidValue = "invalid_value"
        /// Fields that exclude each other.
        case conflictingFields = "conflicting_fields"
    }

    /// From the root of what was read: `tasks[3].checksum`; empty for the value itself.
    public private(set) var path: String
    public let reason: Reason
    /// What would have been right, as the end of "expected …".
    public let expected: String

    public init(_ reason: Reason, at path: String = "", expected: String) {
        self.path = path
        self.reason = reason
        self.expected = expected
    }

    /// One sentence naming the field.
    public var description: String {
        let field = path.isEmpty ? "params" : path
        return switch reason {
        case .unknownField: "\(field): unknown field, expected \(expected)"
        case .missing: "\(field): missing, expected \(expected)"
        case .wrongType, .unknownValue, .invalidValue, .conflictingFields: "\(field): expected \(expected)"
        case .outOfRange: "\(field): out of range, expected \(expected)"
        }
    }

    /// The same fault seen from the object that holds the value under `key`.
    public func under(_ key: String) -> WireError {
        var error = self
        error.path = path.isEmpty ? key : path.hasPrefix("[") ? key + path : "\(key).\(path)"
        return error
    }

    /// The same fault seen from the array that holds the value at `index`.
    public func under(_ index: Int) -> WireError {
        under("[\(index)]")
    }
}

extension WireError {
    static func wrongType(expected: String) -> WireError { WireError(.wrongType, expected: expected) }
}
