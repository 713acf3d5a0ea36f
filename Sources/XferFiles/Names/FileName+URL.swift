public import XferModel

extension FileName {
    /// The percent-decoded last segment of a URL's path, sanitised; `fallback` if no characters are left, for
    /// instance because the path ends in `/`.
    public static func fromURL(_ url: HTTPURL) -> String {
        sanitised(percentDecoded(url.lastPathSegment))
    }

    /// Decodes `%XX` (RFC 3986 §2.1). Bytes that are not UTF-8 become U+FFFD. A `%` without two hex digits is kept.
    static func percentDecoded(_ text: some StringProtocol) -> String {
        String(decoding: percentDecodedBytes(Array(text.utf8), strictly: false) ?? [], as: UTF8.self)
    }

    /// Decodes `%XX` to bytes; nil if `strictly` and a `%` is not followed by two hex digits.
    static func percentDecodedBytes(_ text: [UInt8], strictly: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%") {
                if index + 2 < text.count, let high = text[index + 1].hexDigit, let low = text[index + 2].hexDigit {
                    bytes.append(high << 4 | low)
                    index += 3
                    continue
                }
                if strictly { return nil }
            }
            bytes.append(text[index])
            index += 1
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? { Character(UnicodeScalar(self)).hexDigitValue.map { UInt8(clamping: $0) } }
}
