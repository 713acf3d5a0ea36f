/// `%XX` (RFC 3986 §2.1).
enum PercentCoding {
    /// Invalid UTF-8 becomes U+FFFD; a `%` without two hex digits stays.
    static func decoded(_ text: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let (high, low) = digits(rest) else {
                bytes.append(byte)
                continue
            }
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digits(_ rest: ArraySlice<UInt8>) -> (UInt8, UInt8)? {
        let values = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return values.count == 2 ? (UInt8(clamping: values[0]), UInt8(clamping: values[1])) : nil
    }
}
