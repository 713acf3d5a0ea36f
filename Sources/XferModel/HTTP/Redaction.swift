/// Hides secrets wherever a URL or a header field is shown: listings, events, hooks' input, logs, errors.
///
/// Only `SecretNames` decides which names are secret.
public enum Redaction {
    /// Replaces a secret.
    public static let mask = "***"

    /// The URL's text with user info and the values of secret parameters masked, in query, fragment and path
    /// parameters (`;jsessionid=…`).
    public static func url(_ text: String) -> String {
        // Works on bytes for speed: most URLs have no secrets, and every event shows a URL.
        var text = text
        let mayHaveSecrets = text.withUTF8 { bytes in
            bytes.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }
        }
        return mayHaveSecrets ? maskParameters(in: maskUserInfo(in: text)) : text
    }

    /// Every URL in the text with its secrets masked, relative ones with a query too; URLs end at white space, quotes
    /// and angle brackets.
    public static func text(_ text: String) -> String {
        guard mayContainURL(text) else { return text }
        var result = ""
        var word = ""
        func end() {
            result += mayContainURL(word) ? url(word) : word
            word = ""
        }
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace || "\"'<>`".unicodeScalars.contains(scalar) {
                end()
                result.unicodeScalars.append(scalar)
            } else {
                word.unicodeScalars.append(scalar)
            }
        }
        end()
        return result
    }

    private static func mayContainURL(_ text: String) -> Bool { text.contains("://") || text.contains("?") }

    /// The field with its value masked when its name is secret, else with the URLs in it masked: signed URLs come back
    /// in `Location`, `Link`, `Refresh` and others.
    public static func header(_ field: HeaderField) -> HeaderField {
        if isSecretHeader(field.name) { return HeaderField(name: field.name, value: mask) }
        if isURLHeader(field.name) { return HeaderField(name: field.name, value: url(field.value)) }
        return mayContainURL(field.value) ? HeaderField(name: field.name, value: text(field.value)) : field
    }

    /// Fields whose whole value is a URL, which may be a relative one.
    private static func isURLHeader(_ name: String) -> Bool {
        ["location", "content-location", "referer"].contains(name.lowercased())
    }

    /// True if a header field's value is a secret; such fields are also sent only to the origin that they were set for.
    public static func isSecretHeader(_ name: String) -> Bool { SecretNames.contains(header: name) }

    /// True if a URL parameter's value is a secret. The name is in the URL's form, percent-encoded or not.
    public static func isSecretParameter(_ name: some StringProtocol) -> Bool { SecretNames.contains(parameter: name) }

    private static func maskUserInfo(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), let slashes = text.firstRange(of: "://") else { return text }
        let rest = text[slashes.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return text[..<slashes.upperBound] + mask + text[at...]
    }

    /// Masks the values of secret names, up to the next delimiter of the URL component.
    private static func maskParameters(in text: String) -> String {
        var result: [UInt8] = []
        var place = Place.path
        // The parameter that is being read; `name` is nil where no parameter can begin, `value` before its `=`.
        var name: [UInt8]?
        var value: [UInt8]?
        func end() {
            if let value { result += isSecret(value, of: name ?? []) ? Array(mask.utf8) : value }
            value = nil
        }
        for byte in text.utf8 {
            if place.ends(at: byte) {
                end()
                place.pass(byte)
                name = place == .path && byte != UInt8(ascii: ";") ? nil : []
                result.append(byte)
            } else if value != nil {
                value?.append(byte)
            } else {
                if byte == UInt8(ascii: "="), name != nil { value = [] } else { name?.append(byte) }
                result.append(byte)
            }
        }
        end()
        return String(decoding: result, as: UTF8.self)
    }

    private static func isSecret(_ value: [UInt8], of name: [UInt8]) -> Bool {
        if isSecretParameter(String(decoding: name, as: UTF8.self)) { return true }
        // A URL may be nested in the value, percent-encoded several times; each decoding makes it shorter.
        var text = value
        for _ in 0..<deepestNesting where text.contains(UInt8(ascii: "%")) {
            let decoded = PercentCoding.decoded(text)
            if url(decoded) != decoded { return true }
            text = Array(decoded.utf8)
        }
        return false
    }

    /// The number of levels of nested URLs that are checked.
    private static let deepestNesting = 4

    /// The component of a URL that is being read (RFC 3986 §3).
    private enum Place {
        case path, query, fragment

        /// True if the byte ends a parameter here.
        func ends(at byte: UInt8) -> Bool {
            switch (self, byte) {
            case (_, UInt8(ascii: ";")), (.path, UInt8(ascii: "?")): true
            case (.path, UInt8(ascii: "#")), (.query, UInt8(ascii: "#")), (.path, UInt8(ascii: "/")): true
            case (.query, UInt8(ascii: "&")), (.query, UInt8(ascii: "?")): true
            case (.fragment, UInt8(ascii: "&")), (.fragment, UInt8(ascii: "?")): true
            default: false
            }
        }

        mutating func pass(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "?") where self == .path: self = .query
            case UInt8(ascii: "#"): self = .fragment
            default: break
            }
        }
    }
}

/// `%XX` (RFC 3986 §2.1).
enum PercentCoding {
    /// Percent-decodes bytes. Invalid UTF-8 becomes U+FFFD; a `%` without two hex digits stays.
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
