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
