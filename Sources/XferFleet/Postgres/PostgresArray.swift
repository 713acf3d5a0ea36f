/// Arrays of one dimension in PostgreSQL's text form (manual, 8.15.2), with which one parameter carries many values.
enum PostgresArray {
    /// An array for `$1::text[]` and other types whose elements are texts.
    static func texts(_ elements: some Sequence<String?>) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        var isFirst = true
        for element in elements {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            guard let element else {
                bytes.append(contentsOf: "NULL".utf8)
                continue
            }
            bytes.append(UInt8(ascii: "\""))
            for byte in element.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An array for `$1::bigint[]` and other types of numbers.
    static func integers(_ elements: some Sequence<Int64?>) -> String {
        "{" + elements.map { $0.map { String($0) } ?? "NULL" }.joined(separator: ",") + "}"
    }

    /// An array for `$1::boolean[]`.
    static func bools(_ elements: some Sequence<Bool>) -> String {
        "{" + elements.map { $0 ? "t" : "f" }.joined(separator: ",") + "}"
    }

    /// An array for `$1::bytea[]`.
    static func bytes(_ elements: some Sequence<[UInt8]?>) -> String {
        texts(elements.map { $0.map(hexadecimal) })
    }

    /// Writes bytes in the hex format (manual, 8.4.1), for `$1::bytea`.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("\\x".utf8)
        for byte in bytes {
            text.append(digits[Int(truncatingIfNeeded: byte >> 4)])
            text.append(digits[Int(truncatingIfNeeded: byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `encode(…, 'hex')` wrote; nil for other texts.
    static func bytes(hexadecimal text: String) -> [UInt8]? {
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        let source = Array(text.utf8)
        guard source.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count / 2)
        for index in stride(from: 0, to: source.count, by: 2) {
            guard let high = digit(source[index]), let low = digit(source[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
