/// How a request uses kept responses: `NSURLRequestCachePolicy`'s six policies, with RFC 9111's meaning.
public enum CachePolicy: String, Sendable, Codable, CaseIterable {
    /// RFC 9111: fresh responses are used, stale ones are validated.
    case `protocol`
    /// The server is asked as if nothing were kept.
    case reload
    /// As `reload`, and caches on the way are asked for a fresh copy, too.
    case reloadAll = "reload_all"
    /// Anything kept, however stale; the server only where there is nothing.
    case preferCache = "prefer_cache"
    /// Anything kept, however stale; never the network.
    case onlyIfCached = "only_if_cached"
    /// A kept response is reported at once, and the server is always asked. SDWebImage's RefreshCached.
    case revalidate

    /// Whether kept responses may be used.
    public var usesCache: Bool { self != .reload && self != .reloadAll }
}

/// A request's cache options.
public struct CachingOptions: Hashable, Sendable, Codable {
    public var policy: CachePolicy
    /// Whether the response is kept.
    public var stores: Bool
    /// The rule for the URL's cache key; nil uses the URL itself.
    public var key: CacheKeyRule?

    public init(policy: CachePolicy = .reload, stores: Bool = false, key: CacheKeyRule? = nil) {
        self.policy = policy
        self.stores = stores
        self.key = key
    }
}
