public import StrictJSON

/// A value with one form on the wire: it reads itself from JSON, writes itself, and describes itself as JSON Schema.
///
/// The wire does not use `Codable`: `JSONDecoder` ignores unknown keys, accepts `1.0` for an integer, and cannot report
/// which element of an array is at fault.
public protocol WireValue: Sendable {
    /// Reads the value; the error's path is relative to this value.
    init(wire value: JSONValue, mode: WireMode) throws(WireError)

    /// The value as JSON.
    var wire: JSONValue { get }

    /// Appends `wire` as compact text.
    func write(to output: inout [UInt8])

    /// JSON Schema (draft 7) of the value; named types enter themselves into `schemas` and answer a `$ref`.
    static func schema(in schemas: inout WireSchemas) -> JSONValue
}

/// The strictness of a reader.
public enum WireMode: Sendable {
    /// The rule for a client's data: unknown fields and values are errors.
    case strict
    /// The rule for data of a daemon that may be newer: unknown fields and unknown values of optional enumerations are
    /// left out.
    case lenient
}

extension WireValue {
    public func write(to output: inout [UInt8]) { wire.write(to: &output) }

    /// Reads a client's value.
    public init(strict value: JSONValue) throws(WireError) {
        try self.init(wire: value, mode: .strict)
    }

    /// Reads a value from a daemon, which may be newer than the reader.
    public init(lenient value: JSONValue) throws(WireError) {
        try self.init(wire: value, mode: .lenient)
    }
}
