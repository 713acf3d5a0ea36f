/// The use of cached responses by a request. The cases are those of `NSURLRequestCachePolicy`, with the terms of RFC
/// 9111.
public enum CachePolicy: String, Sendable, Codable, CaseIterable {
    /// RFC 9111: fresh responses are used, stale ones are validated.
    case `protocol`
    /// The request is sent as if no response were kept.
    case reload
    /// Like `reload`, and caches between client and server must fetch a fresh copy, too.
    case reloadAll = "reload_all"
    /// A cached response is used, however stale it is. A request is made only if no response is cached.
    case preferCache = "prefer_cache"
    /// A cached response is used, however stale it is. No request is made.
    case onlyIfCached = "only_if_cached"
    /// A cached response is reported at once, and a request is made, too. Class of origin: SDWebImage's RefreshCached.
    case revalidate

    /// True if kept responses may be used.
    public var usesCache: Bool { self != .reload && self != .reloadAll }
}

/// A request's cache options.
public struct CachingOptions: Hashable, Sendable, Codable {
    public var policy: CachePolicy
    /// True if the response is kept.
    public var stores: Bool
    /// The rule for the URL's cache key; nil uses the URL itself.
    public var key: CacheKeyRule?

    public init(policy: CachePolicy = .reload, stores: Bool = false, key: CacheKeyRule? = nil) {
        self.policy = policy
        self.stores = stores
        self.key = key
    }
}

/// The parts of a URL that distinguish cached responses: SDWebImageManager's `cacheKeyFilter` as a value.
///
/// The author of a rule states that all URLs with the same text identify the same resource. Such URLs differ, for
/// example, in a token in the query or in the mirror.
public struct CacheKeyRule: Hashable, Sendable, Codable {
    /// The text that replaces every URL in the key. If it is set, the other fields are ignored.
    public var text: String?
    /// True if the whole query is left out.
    public var ignoresQuery: Bool
    /// Names of query parameters that are left out, spelled as in the URL. A `*` at the end matches any further
    /// characters.
    public var ignoredParameters: [String]
    /// The text that replaces scheme, host and port of every URL, if it is set.
    public var host: String?

    public init(
        text: String? = nil, ignoresQuery: Bool = false, ignoredParameters: [String] = [], host: String? = nil
    ) {
        self.text = text
        self.ignoresQuery = ignoresQuery
        self.ignoredParameters = ignoredParameters
        self.host = host
    }

    /// The text by which the URL is compared. If it comes from `text`, it never equals one that comes from a URL.
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
