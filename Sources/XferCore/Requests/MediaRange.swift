/// Media ranges (RFC 9110 §12.5.1) in lower case and without parameters: `image/png`, `image/*`, `*/*`.
///
/// `*/json` is a range, too, as in Alamofire, although the RFC has none with a subtype alone.
enum MediaRange {
    /// True for two tokens of which each may be `*`. A `*` inside a name is not a wildcard, and does not occur in
    /// registered names.
    static func isRange(_ text: String) -> Bool {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        return halves.count == 2 && halves.allSatisfy { $0 == "*" || isName($0) }
    }

    /// True if the media type is within the range.
    ///
    /// - Parameters:
    ///   - type: a media type in lower case without parameters.
    ///   - range: a range for which `isRange` is true; any other text is compared as a whole.
    static func matches(_ type: String, range: String) -> Bool {
        if type == range { return true }
        guard range.utf8.contains(UInt8(ascii: "*")) else { return false }
        let types = type.split(separator: "/", omittingEmptySubsequences: false)
        let ranges = range.split(separator: "/", omittingEmptySubsequences: false)
        return types.count == 2 && ranges.count == 2 && zip(types, ranges).allSatisfy { $1 == "*" || $0 == $1 }
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (97...122).contains(byte) || "!#$%&'+-.^_`|~".utf8.contains(byte)
            }
    }
}
