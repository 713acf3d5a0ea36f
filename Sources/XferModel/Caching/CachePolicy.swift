/// What a request does about responses that were kept: `NSURLRequestCachePolicy`'s six, with RFC 9111's meaning.
public enum CachePolicy: String, Sendable, Codable, CaseIterable {
    /// RFC 9111: what is fresh is used, what is stale is asked about.
    case `protocol`
    /// The server is asked as if nothing were kept.
    case reload
    /// As `reload`, and caches on the way are asked for a fresh copy, too.
    case reloadAll = "reload_all"
    /// Anything kept, however stale; the server only where there is nothing.
    case preferCache = "prefer_cache"
    /// Anything kept, however stale; never the network.
    case onlyIfCached = "only_if_cached"
    /// What is kept is told of at once, and the server is always asked. SDWebImage's RefreshCached.
    case revalidate

    /// Whether kept responses are looked at.
    public var usesCache: Bool { self != .reload && self != .reloadAll }
}

/// What a request does about the cache.
public struct CachingOptions: Hashable, Sendable, Codable {
    public var policy: CachePolicy
    /// Whether the response is kept.
    public var stores: Bool
    /// What stands for the URL in the cache; nil is the URL itself.
    public var key: CacheKeyRule?

    public init(policy: CachePolicy = .reload, stores: Bool = false, key: CacheKeyRule? = nil) {
        self.policy = policy
        self.stores = stores
        self.key = key
    }
}
