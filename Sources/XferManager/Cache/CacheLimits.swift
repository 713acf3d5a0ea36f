/// The size and age limits of the cache.
struct CacheLimits: Hashable, Sendable {
    /// The limit for all contents, in bytes. Above it, the least recently used are removed down to half of it.
    var maxBytes: Int64
    /// Seconds since the last use.
    var maxAge: Int64

    /// The number of bytes to keep after `maxBytes` was exceeded.
    var goal: Int64 { maxBytes / 2 }

    /// The largest content worth keeping, in bytes: a larger one would be removed first.
    var largestContent: Int64 { goal }
}

extension ManagerSettings {
    var cacheLimits: CacheLimits { CacheLimits(maxBytes: cacheMaxBytes, maxAge: cacheMaxAge) }
}
