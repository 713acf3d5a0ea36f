/// How much is kept, and how long.
struct CacheLimits: Hashable, Sendable {
    /// Bytes of all contents; when there are more, the least recently used go until it is under half.
    var maxBytes: Int64
    /// Seconds since the last use.
    var maxAge: Int64

    /// What is left after more than `maxBytes` were there.
    var goal: Int64 { maxBytes / 2 }

    /// A larger content would be the first to go.
    var largestContent: Int64 { goal }
}

extension ManagerSettings {
    var cacheLimits: CacheLimits { CacheLimits(maxBytes: cacheMaxBytes, maxAge: cacheMaxAge) }
}
