/// A request target in the canonical form that AWS Signature Version 4 requires, so that libcurl signs and sends the
/// same text that the server computes.
///
/// libcurl 7.88 signs path and query unchanged; the server decodes them, encodes them again with its own set, and sorts
/// the query.
public enum SignableTarget {
    /// The same path and query: every octet but RFC 3986's unreserved ones and the path's `/` encoded with upper-case
    /// digits, parameters sorted by name and then value, each with its `=`. A `+` in the query is a space, as servers
    /// read it.
    public static func normalized(_ target: String) -> String {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        let path = encode(decode(target[..<mark], plusIsSpace: false), keepsSlash: true)
        guard mark < target.endIndex else { return path }
        let query = target[target.index(after: mark)...]
        let pairs = query.split(separator: "&").map { pair -> (name: String, value: String) in
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            let value = equals < pair.endIndex ? pair[pair.index(after: equals)...] : ""
            func normalized(_ text: Substring) -> String {
                encode(decode(text, plusIsSpace: true), keepsSlash: false)
            }
            return (normalized(pair[..<equals]), normalized(value))
        }
        if pairs.isEmpty { return path }
        return path + "?"
            + pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    private static func decode(_ text: Substring, plusIsSpace: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = digit(rest[rest.startIndex]),
                let low = digit(rest[rest.startIndex + 1])
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }

    private static func encode(_ bytes: [UInt8], keepsSlash: Bool) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "/") where keepsSlash:
                text += "/"
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return text
    }
}
