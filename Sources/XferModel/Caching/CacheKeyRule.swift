/// Which parts of a URL distinguish kept responses: SDWebImageManager's `cacheKeyFilter` as a value.
///
/// The author of a rule states that the URLs it makes equal name the same resource: tokens in a query, several mirrors.
public struct CacheKeyRule: Hashable, Sendable, Codable {
    /// Replaces any URL; the other fields are ignored.
    public var text: String?
    /// The whole query is left out.
    public var ignoresQuery: Bool
    /// Names of query parameters that are left out, as they stand in the URL; a `*` at the end matches any rest.
    public var ignoredParameters: [String]
    /// Replaces scheme, host and port, whatever they are.
    public var host: String?

    public init(
        text: String? = nil, ignoresQuery: Bool = false, ignoredParameters: [String] = [], host: String? = nil
    ) {
        self.text = text
        self.ignoresQuery = ignoresQuery
        self.ignoredParameters = ignoredParameters
        self.host = host
    }

    /// The text by which the URL is compared. A rule's text never equals a URL's.
    public func text(for url: HTTPURL) -> String {
        if let text { return "text:\(text)" }
        return "url:\(host ?? "\(url.scheme.rawValue)://\(url.hostKey)")\(target(of: url))"
    }

    private func target(of url: HTTPURL) -> String {
        guard let mark = url.target.firstIndex(of: "?") else { return url.target }
        let path = url.target[..<mark]
        if ignoresQuery { return String(path) }
        guard !ignoredParameters.isEmpty else { return url.target }
        let query = url.target[url.target.index(after: mark)...]
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { pair in
            let name = pair.prefix { $0 != "=" }
            return !ignoredParameters.contains { Self.matches(name, pattern: $0) }
        }
        return kept.isEmpty ? String(path) : "\(path)?\(kept.joined(separator: "&"))"
    }

    private static func matches(_ name: Substring, pattern: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
}

extension CacheKeyRule? {
    /// The text by which the URL is compared in the cache.
    public func text(for url: HTTPURL) -> String { (self ?? CacheKeyRule()).text(for: url) }
}
