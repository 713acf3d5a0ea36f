/// Strict base64 (RFC 4648 §4): padding is required; white space and unused bits that are not zero are refused.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The encoded text with padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(clamping: byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                output.append(alphabet[Int(clamping: buffer >> UInt32(clamping: bits) & 63)])
            }
        }
        if bits > 0 { output.append(alphabet[Int(clamping: buffer << UInt32(clamping: 6 - bits) & 63)]) }
        while !output.count.isMultiple(of: 4) { output.append(UInt8(ascii: "=")) }
        return String(decoding: output, as: UTF8.self)
    }

    /// The bytes, or nil when the text is not strict base64.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var output: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for character in characters.dropLast(padding) {
            guard let value = value(of: character) else { return nil }
            buffer = buffer << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: buffer >> UInt32(clamping: bits)))
            }
        }
        guard buffer & (1 << UInt32(clamping: bits) - 1) == 0 else { return nil }
        return output
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(clamping: character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(clamping: character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(clamping: character) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
