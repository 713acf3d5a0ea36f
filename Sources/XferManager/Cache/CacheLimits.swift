/// The size and age limits of the cache.
struct CacheLimits: Hashable, Sendable {
    /// The limit for the sum of all contents, in bytes. Above it, the least recently used contents are removed until
    /// the sum is at most half the limit.
    var maxBytes: Int64
    /// An entry that was not used for more than this number of seconds is removed.
    var maxAge: Int64

    /// The number of bytes to keep after `maxBytes` was exceeded.
    var goal: Int64 { maxBytes / 2 }

    /// The largest content worth keeping, in bytes: a larger one would be removed first.
    var largestContent: Int64 { goal }
}

extension ManagerSettings {
    var cacheLimits: CacheLimits { CacheLimits(maxBytes: cacheMaxBytes, maxAge: cacheMaxAge) }
}
