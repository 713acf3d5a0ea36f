public import XferModel

/// Names for finished files, from servers, URLs and clients, none of which is trusted.
public enum FileName {
    /// The highest number of bytes of UTF-8 a name can have (NAME_MAX, limits.h).
    public static let maximumByteCount = 255

    /// The name of a file when nothing better is known.
    public static let fallback = "download"

    /// Makes a file name from any text, for names from outside.
    ///
    /// The result is the last part after `/` and `\` (RFC 6266 §4.3), without control and invisible characters, cut to
    /// 255 bytes before its extension. It does not begin with a dot, white space, a dash or a tilde: a shell's `*`
    /// would pass `-rf` to a program as an option, and `~` means a home directory. It does not end in a dot or white
    /// space, which some file systems remove. If nothing is left, the result is `fallback`.
    public static func sanitised(_ text: String, fallback: String = Self.fallback) -> String {
        sanitisedIfAny(text) ?? fallback
    }

    static func sanitisedIfAny(_ text: String) -> String? {
        let parts = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        // "dir/.." names nothing, so the last part with something to it counts.
        guard let name = parts.lazy.reversed().compactMap(cleaned).first else { return nil }
        // Again: the cut may have left white space at the end.
        return cleaned(shortened(name).unicodeScalars)
    }

    private static func cleaned(_ part: some Sequence<Unicode.Scalar>) -> String? {
        let visible = String(String.UnicodeScalarView(part.filter { !isInvisible($0) }))
        let name = visible.unicodeScalars.drop { ".-~".unicodeScalars.contains($0) || $0.properties.isWhitespace }
        let end = name.lastIndex { $0 != "." && !$0.properties.isWhitespace }
        return end.map { String(name[...$0]) }
    }

    /// True for control characters, line separators, marks that change the writing direction (so that `gpj.exe` cannot
    /// look like a picture), and characters without width, by which two names could look the same. Joiners are allowed:
    /// some scripts need them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x206F, 0xFEFF, 0x2028, 0x2029: true
        // Soft hyphen, zero-width space, Hangul and Mongolian fillers, word joiner and invisible operators,
        // interlinear annotation, tags.
        case 0x00AD, 0x115F, 0x1160, 0x180E, 0x200B, 0x2060...0x2065, 0x3164, 0xFFA0, 0xFFF9...0xFFFB: true
        case 0xE0000...0xE007F: true
        default: scalar.properties.generalCategory == .control
        }
    }

    /// The name cut to `longest` bytes less `room`, its extension kept if there is space for it.
    static func shortened(_ name: String, to longest: Int = maximumByteCount, leavingRoomFor room: Int = 0) -> String {
        let most = max(longest - room, 1)
        guard name.utf8.count > most else { return name }
        let (stem, suffix) = split(name)
        guard suffix.utf8.count < most else { return name.prefix(byteCount: most) }
        return stem.prefix(byteCount: most - suffix.utf8.count) + suffix
    }
}

extension FileName {
    /// Splits a name into stem and extension with its dot: `("a", ".tar.gz")`. An extension has 1 … 16 ASCII letters
    /// and digits, at least one of them a letter, so that the end of `linux-6.1` is none.
    static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return (name, "") }
        let suffix = name[dot...]
        let digits = suffix.utf8.dropFirst()
        guard (1...16).contains(digits.count), digits.allSatisfy(\.isASCIIAlphanumeric),
            digits.contains(where: \.isASCIILetter)
        else { return (name, "") }
        let stem = name[..<dot]
        let isTar = stem.utf8.count > 4 && stem.suffix(4).lowercased() == ".tar"
        let cut = isTar ? stem.index(stem.endIndex, offsetBy: -4) : dot
        return (String(name[..<cut]), String(name[cut...]))
    }
}

extension String {
    /// The longest beginning of whole characters that has no more bytes of UTF-8; of whole scalars when the first
    /// character alone is longer.
    func prefix(byteCount: Int) -> String {
        guard utf8.count > byteCount else { return self }
        let limit = utf8.index(startIndex, offsetBy: byteCount)
        if let end = indices.last(where: { $0 <= limit }), end > startIndex { return String(self[..<end]) }
        return String(self[..<(unicodeScalars.indices.last { $0 <= limit } ?? startIndex)])
    }
}

extension UInt8 {
    var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    var isASCIIAlphanumeric: Bool { isASCIILetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension FileName {
    /// Validates a client's name: it is accepted unchanged or refused.
    ///
    /// - Throws: `invalidName` with the reason.
    public static func validateOutput(_ text: String) throws(FileError) -> String {
        if let problem = problem(with: text) { throw .invalidName(text, problem: problem) }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .invalidName(text, problem: "it contains a control character")
        }
        if text.hasPrefix(".xfer-") {
            throw .invalidName(text, problem: "names starting with \".xfer-\" are the service's own")
        }
        return text
    }

    /// The reason why a text cannot be the name of a directory's entry; nil when it can.
    static func problem(with name: String) -> String? {
        if name.isEmpty { return "it is empty" }
        if name.utf8.last == UInt8(ascii: "/") { return "it is the name of a directory, expected a file name" }
        if name.utf8.contains(UInt8(ascii: "/")) { return "it contains \"/\", expected a name without a directory" }
        if name == "." || name == ".." { return "it is the name of a directory, expected a file name" }
        if name.utf8.contains(0) { return "it contains a NUL byte" }
        let count = name.utf8.count
        if count > maximumByteCount { return "it has \(count) bytes, expected at most \(maximumByteCount)" }
        return nil
    }
}

extension FileName {
    /// The `number`th other name for a file whose name is taken: `name (1).ext`, `name (1).tar.gz`.
    ///
    /// - Parameter longest: the length to which it is cut, in bytes of UTF-8.
    public static func numbered(_ name: String, _ number: Int, longest: Int = maximumByteCount) -> String {
        let mark = " (\(number))"
        let (stem, suffix) = split(shortened(name, to: longest, leavingRoomFor: mark.utf8.count))
        return stem + mark + suffix
    }
}

extension FileName {
    /// The percent-decoded last segment of a URL's path, sanitised; nil if no characters are left, for instance because
    /// the path ends in `/`.
    private static func fromURLIfAny(_ url: HTTPURL) -> String? { sanitisedIfAny(percentDecoded(url.lastPathSegment)) }

    /// The name of a download's file that the client left open: the server's, else that of the first of the URLs that
    /// has one.
    ///
    /// - Parameters:
    ///   - disposition: `Content-Disposition`.
    ///   - urls: in order of preference: where redirects led, then the requested one.
    public static func suggested(disposition: String?, urls: [HTTPURL]) -> String {
        disposition.flatMap(fromContentDisposition) ?? urls.lazy.compactMap(fromURLIfAny).first ?? fallback
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
