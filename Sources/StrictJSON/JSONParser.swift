extension JSONValue {
    /// Parses one whole JSON text (RFC 8259) from UTF-8 bytes.
    ///
    /// Strict: invalid UTF-8, lone surrogates, duplicate keys, anything after the value and nesting deeper than
    /// `maxDepth` are errors.
    public init(parsing bytes: some Collection<UInt8>, maxDepth: Int = 64) throws(JSONSyntaxError) {
        fatalError("the JSONRPC branch brings the parser")
    }

    /// The value as compact UTF-8 JSON without line breaks, appended to `output`.
    public func write(to output: inout [UInt8]) {
        fatalError("the JSONRPC branch brings the writer")
    }

    /// Compact JSON text.
    public var text: String {
        var output: [UInt8] = []
        write(to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}

/// Why a text is not the JSON this house accepts.
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case invalidUTF8, unexpectedEnd, unexpectedByte, invalidNumber, invalidString, trailingBytes
        case tooDeep(limit: Int)
        case duplicateKey(String)
    }

    public let reason: Reason
    /// Offset of the byte at fault.
    public let offset: Int

    public init(_ reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason) at byte \(offset)" }
}
