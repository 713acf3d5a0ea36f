/// The Unicode encodings of JSON texts from other senders.
///
/// RFC 8259 §8.1 requires UTF-8 without a byte order mark, and lets receivers ignore one. Earlier specifications
/// allowed UTF-16 and UTF-32, which Foundation's JSONSerialization, and so AFNetworking, reads.
public enum JSONEncodings {
    /// The text in UTF-8 without a byte order mark; nil if the bytes are not valid in their encoding.
    ///
    /// The encoding is that of the byte order mark, or else follows from the place of the zero bytes in the first
    /// character, which is always ASCII in JSON (RFC 4627 §3).
    public static func utf8(of bytes: [UInt8]) -> [UInt8]? {
        let (unit, isLittleEndian, start) = form(of: bytes)
        let text = bytes[start...]
        guard unit > 1 else { return start == 0 ? bytes : Array(text) }
        guard text.count.isMultiple(of: unit) else { return nil }
        let units = stride(from: text.startIndex, to: text.endIndex, by: unit).map { place in
            let bytes = text[place..<place + unit]
            return isLittleEndian ? value(bytes.reversed()) : value(bytes)
        }
        let decoded =
            unit == 2
            ? String(validating: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
            : String(validating: units, as: UTF32.self)
        return decoded.map { Array($0.utf8) }
    }

    /// The size of a code unit in bytes, the byte order, and the length of the byte order mark.
    private static func form(of bytes: [UInt8]) -> (unit: Int, isLittleEndian: Bool, start: Int) {
        let marks: [(bytes: [UInt8], unit: Int, isLittleEndian: Bool)] = [
            ([0xef, 0xbb, 0xbf], 1, false), ([0xff, 0xfe, 0, 0], 4, true), ([0, 0, 0xfe, 0xff], 4, false),
            ([0xff, 0xfe], 2, true), ([0xfe, 0xff], 2, false),
        ]
        if let mark = marks.first(where: { bytes.starts(with: $0.bytes) }) {
            return (mark.unit, mark.isLittleEndian, mark.bytes.count)
        }
        return switch bytes.prefix(4).map({ $0 == 0 }) {
        case [true, true, true, false]: (4, false, 0)
        case [false, true, true, true]: (4, true, 0)
        case let zeros where zeros.starts(with: [true, false]): (2, false, 0)
        case let zeros where zeros.starts(with: [false, true]): (2, true, 0)
        default: (1, false, 0)
        }
    }

    private static func value(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32(truncatingIfNeeded: $1) }
    }
}
