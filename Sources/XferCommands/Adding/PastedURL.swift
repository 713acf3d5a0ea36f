/// URLs as people copy them from mails, documents and shells.
enum PastedURL {
    /// The URL without the blanks, quotes and angle brackets around it, and without the `URL:` inside these (RFC 3986,
    /// appendix C). Any other text is unchanged but for the blanks.
    static func bare(_ text: some StringProtocol) -> String {
        var rest = trimmed(Substring(text))
        // Most lines of a long list are plain URLs.
        if let first = rest.unicodeScalars.first, first.isASCII, first.properties.isAlphabetic { return String(rest) }
        for pair in ["\"\"", "''", "“”", "<>", "\"\"", "''"] {
            guard rest.count > 2, rest.first == pair.first, rest.last == pair.last else { continue }
            rest = trimmed(rest.dropFirst().dropLast())
            if pair == "<>", rest.prefix(4).lowercased() == "url:" { rest = trimmed(rest.dropFirst(4)) }
        }
        return String(rest)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? start
        return text[start..<end]
    }
}
