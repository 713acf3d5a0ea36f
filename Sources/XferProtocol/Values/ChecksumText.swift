public import StrictJSON
public import XferModel

/// `sha-256=<hex or base64>` coming in, `sha-256=<lower-case hex>` going out.
extension Checksum: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "a checksum, a string") }
        do throws(ChecksumSyntaxError) {
            try self.init(parsing: text)
        } catch {
            throw WireError(.invalidValue, expected: "sha-256=<hex or base64> (also sha-512, sha-1, md5): \(error)")
        }
    }

    public var wire: JSONValue { .string(description) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^[A-Za-z0-9-]+[=:][0-9A-Za-z+/]+=*$"]
    }
}
