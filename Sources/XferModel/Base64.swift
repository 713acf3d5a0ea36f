/// Strict base64 (RFC 4648 §4): padding is required; white space and unused bits that are not zero are refused.
///
/// Pages of files pass through here, so both ways work on memory, without a call for each byte in a debug build.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The value of each character, `invalid` for others.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(clamping: character)] = UInt8(clamping: value)
        }
        return values
    }()
    private static let invalid: UInt8 = 255

    /// The encoded text with padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let input = Array(bytes)
        let length = (input.count + 2) / 3 * 4
        guard length > 0 else { return "" }
        return String(unsafeUninitializedCapacity: length) { output in
            guard let target = output.baseAddress else { return 0 }
            input.withUnsafeBufferPointer { input in
                alphabet.withUnsafeBufferPointer { alphabet in
                    guard let source = input.baseAddress, let alphabet = alphabet.baseAddress else { return }
                    encode(source, input.count, alphabet, target)
                }
            }
            return length
        }
    }

    private static func encode(
        _ source: UnsafePointer<UInt8>, _ count: Int, _ alphabet: UnsafePointer<UInt8>,
        _ target: UnsafeMutablePointer<UInt8>
    ) {
        var (from, to) = (0, 0)
        while from < count {
            let left = count - from
            let first = Int(source[from])
            let second = left > 1 ? Int(source[from + 1]) : 0
            let third = left > 2 ? Int(source[from + 2]) : 0
            target[to] = alphabet[first >> 2]
            target[to + 1] = alphabet[(first & 3) << 4 | second >> 4]
            target[to + 2] = left > 1 ? alphabet[(second & 15) << 2 | third >> 6] : 61
            target[to + 3] = left > 2 ? alphabet[third & 63] : 61
            from += 3
            to += 4
        }
    }

    /// The bytes, or nil when the text is not strict base64.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(3).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        let length = characters.count / 4 * 3 - padding
        guard length > 0 else { return characters.isEmpty ? [] : nil }
        var isValid = false
        let output = [UInt8](unsafeUninitializedCapacity: length) { output, count in
            count = length
            guard let target = output.baseAddress else { return }
            isValid = characters.withUnsafeBufferPointer { characters in
                values.withUnsafeBufferPointer { values in
                    guard let source = characters.baseAddress, let values = values.baseAddress else { return false }
                    return decode(source, characters.count - padding, values, target)
                }
            }
            // Nothing of the array may be uninitialized.
            if !isValid { target.update(repeating: 0, count: length) }
        }
        return isValid ? output : nil
    }

    /// Decodes base64.
    ///
    /// - Returns: false if a character is not in the alphabet, or unused bits are not zero.
    private static func decode(
        _ source: UnsafePointer<UInt8>, _ count: Int, _ values: UnsafePointer<UInt8>,
        _ target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var (from, to, buffer, bits) = (0, 0, 0, 0)
        while from < count {
            let value = values[Int(source[from])]
            if value == invalid { return false }
            buffer = (buffer << 6 | Int(value)) & 0xffff
            bits += 6
            if bits >= 8 {
                bits -= 8
                target[to] = UInt8(truncatingIfNeeded: buffer >> bits)
                to += 1
            }
            from += 1
        }
        return buffer & (1 << bits - 1) == 0
    }
}
