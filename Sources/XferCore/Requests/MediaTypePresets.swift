/// Names for the media types that AFNetworking's response serializers accept.
public enum MediaTypePresets {
    static let types: [(name: String, types: [String])] = [
        ("json", ["application/json", "text/json", "text/javascript"]),
        ("xml", ["application/xml", "text/xml"]),
        ("plist", ["application/x-plist"]),
        (
            "image",
            [
                "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
                "image/x-bmp", "image/x-xbitmap", "image/x-win-bitmap", "image/webp", "image/avif",
            ]
        ),
    ]

    /// The names of the presets.
    public static var names: [String] { types.map(\.name) }

    /// The media types and ranges, lower case, each once. The name of a preset is replaced by its types.
    ///
    /// - Throws: the position of the first text that is neither.
    public static func expand(_ texts: [String]) throws(UnknownMediaType) -> [String] {
        var result: [String] = []
        for (index, text) in texts.enumerated() {
            let lower = text.lowercased()
            let meant = types.first { $0.name == lower }?.types ?? (MediaRange.isRange(lower) ? [lower] : [])
            if meant.isEmpty { throw UnknownMediaType(index: index) }
            for type in meant where !result.contains(type) { result.append(type) }
        }
        return result
    }
}

/// A text that is neither a media type nor a preset's name.
public struct UnknownMediaType: Error, Hashable, Sendable, CustomStringConvertible {
    public let index: Int

    public var description: String { "entry \(index) is not a media type" }
}

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
