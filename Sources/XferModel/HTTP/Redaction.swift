/// Hides secrets wherever a URL or a header field is shown: listings, events, logs, errors.
public enum Redaction {
    /// What stands in a secret's place.
    public static let mask = "***"

    /// The URL's text with user info and secret query values masked.
    public static func url(_ text: String) -> String {
        // Bytes first: most URLs have neither user info nor a query, and every event shows one.
        var text = text
        let mayHaveSecrets = text.withUTF8 { bytes in
            bytes.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }
        }
        return mayHaveSecrets ? maskQuery(in: maskUserInfo(in: text)) : text
    }

    /// The field with its value masked when its name says that it is a secret, and as `url` does where it is a URL.
    public static func header(_ field: HeaderField) -> HeaderField {
        if isSecretHeader(field.name) { return HeaderField(name: field.name, value: mask) }
        return isURLHeader(field.name) ? HeaderField(name: field.name, value: url(field.value)) : field
    }

    /// Signed URLs come back in redirects.
    private static func isURLHeader(_ name: String) -> Bool {
        ["location", "content-location", "referer"].contains(name.lowercased())
    }

    /// `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie` and names ending in `-token` or `-key`.
    public static func isSecretHeader(_ name: String) -> Bool {
        let lower = name.lowercased()
        return ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(lower)
            || lower.hasSuffix("-token") || lower.hasSuffix("-key")
    }

    /// `sig*`, `*token*`, `*key*`, `*secret*`, `password`, `x-amz-*`, `x-goog-*`.
    public static func isSecretParameter(_ name: some StringProtocol) -> Bool {
        let lower = name.lowercased()
        return lower.hasPrefix("sig") || lower.contains("token") || lower.contains("key") || lower.contains("secret")
            || lower == "password" || lower.hasPrefix("x-amz-") || lower.hasPrefix("x-goog-")
    }

    private static func maskUserInfo(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), let slashes = text.firstRange(of: "://") else { return text }
        let rest = text[slashes.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return text[..<slashes.upperBound] + mask + text[at...]
    }

    private static func maskQuery(in text: String) -> String {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        let query = text[text.index(after: mark)...].prefix { $0 != "#" }
        let masked = query.split(separator: "&", omittingEmptySubsequences: false).map { pair -> Substring in
            guard let equals = pair.firstIndex(of: "="), isSecretParameter(pair[..<equals]) else { return pair }
            return pair[...equals] + mask[...]
        }
        return text[...mark] + masked.joined(separator: "&") + text[query.endIndex...]
    }
}
