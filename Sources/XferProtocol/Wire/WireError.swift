/// The reason why a JSON value does not match the wire format: the field, the fault, and a description of valid values.
///
/// It never contains the refused value, which may be a secret.
public struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The complete list of faults, with their names in `data.reason` of errors with code −32602.
    public enum Reason: String, Sendable, CaseIterable {
        case unknownField = "unknown_field"
        case missing
        case wrongType = "wrong_type"
        case outOfRange = "out_of_range"
        /// The text is not a value of the enumeration.
        case unknownValue = "unknown_value"
        /// The type is right but the form is not, for example of a checksum's text or a header's name.
        case invalidValue = "invalid_value"
        /// Fields are given that exclude each other.
        case conflictingFields = "conflicting_fields"
    }

    /// The path from the root of the value that was read, for example `tasks[3].checksum`; empty for the root itself.
    public private(set) var path: String
    public let reason: Reason
    /// A description of a correct value that completes the phrase "expected …".
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

    /// Returns the same fault for the object that contains the value under `key`: the path begins with `key`.
    public func under(_ key: String) -> WireError {
        var error = self
        error.path = path.isEmpty ? key : path.hasPrefix("[") ? key + path : "\(key).\(path)"
        return error
    }

    /// Returns the same fault for the array that contains the value at `index`: the path begins with `[index]`.
    public func under(_ index: Int) -> WireError {
        under("[\(index)]")
    }
}

extension WireError {
    static func wrongType(expected: String) -> WireError { WireError(.wrongType, expected: expected) }
}
