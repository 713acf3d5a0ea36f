/// The Accept-Language field (RFC 9110 §12.5.4) as AFHTTPRequestSerializer makes it.
public enum AcceptLanguage {
    /// Languages in order of preference with the weights 1.0, 0.9 … as long as they are above 0.5; nil without languages.
    public static func value(for languages: [String]) -> String? {
        guard !languages.isEmpty else { return nil }
        return zip(languages, stride(from: 10, to: 5, by: -1)).map { language, tenths in
            "\(language);q=\(tenths / 10).\(tenths % 10)"
        }.joined(separator: ", ")
    }

    /// A language tag (RFC 5646 §2.1, its characters and lengths), or `*`.
    public static func isTag(_ text: String) -> Bool {
        if text == "*" { return true }
        return text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { subtag in
            (1...8).contains(subtag.utf8.count)
                && subtag.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) }
        }
    }
}
