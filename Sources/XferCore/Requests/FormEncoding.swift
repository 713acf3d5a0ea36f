public import XferModel

/// Parameters as a query or a form: AFNetworking's `AFQueryStringFromParameters`.
public enum FormEncoding {
    public static let mediaType = "application/x-www-form-urlencoded"

    /// `a=1&b%5Bc%5D=2`: names and values percent-encoded, names of objects' members in the order of their bytes.
    public static func encode(_ parameters: [Parameter]) -> String {
        pairs(of: parameters).map { name, value in
            value.map { "\(escape(name))=\(escape($0))" } ?? escape(name)
        }.joined(separator: "&")
    }

    /// The same in another encoding: its octets are percent-encoded, as browsers do for `accept-charset`.
    ///
    /// - Parameter octets: the octets of a text in that encoding; nil if it cannot be written in it.
    /// - Returns: nil if one of the texts cannot be written in the encoding.
    static func encode(_ parameters: [Parameter], octets: (String) -> [UInt8]?) -> String? {
        var fields: [String] = []
        for (name, value) in pairs(of: parameters) {
            guard let name = octets(name) else { return nil }
            guard let value else {
                fields.append(escape(octets: name))
                continue
            }
            guard let value = octets(value) else { return nil }
            fields.append("\(escape(octets: name))=\(escape(octets: value))")
        }
        return fields.joined(separator: "&")
    }

    /// The parameters flattened: `key[member]`, `key[]`; no value for null. Empty lists and objects are omitted.
    public static func pairs(of parameters: [Parameter]) -> [(name: String, value: String?)] {
        var pairs: [(name: String, value: String?)] = []
        appendMembers(parameters, under: nil, to: &pairs)
        return pairs
    }

    /// Percent-encodes all octets but RFC 3986's unreserved ones and `?` and `/`, which a query may contain unencoded
    /// (§3.4). Octet by octet, so that no character is ever cut in two.
    public static func escape(_ text: String) -> String { escape(octets: text.utf8) }

    private static func escape(octets: some Collection<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(octets.count)
        for byte in octets {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func appendMembers(
        _ members: [Parameter], under key: String?, to pairs: inout [(name: String, value: String?)]
    ) {
        for member in members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            append(member.value, named: key.map { "\($0)[\(member.name)]" } ?? member.name, to: &pairs)
        }
    }

    private static func append(
        _ value: ParameterValue, named name: String, to pairs: inout [(name: String, value: String?)]
    ) {
        switch value {
        case .null: pairs.append((name, nil))
        case .text(let text): pairs.append((name, text))
        case .list(let elements): for element in elements { append(element, named: name + "[]", to: &pairs) }
        case .object(let members): appendMembers(members, under: name, to: &pairs)
        }
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~?/".utf8.contains(byte)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
