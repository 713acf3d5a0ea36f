/// A kept response as an entry of the cache.
public struct CacheEntry: Hashable, Sendable {
    public var id: CacheEntryID
    public var owner: Owner
    /// Name of the file in the cache directory that holds the content.
    public var blob: String
    public var response: StoredResponse
    /// When it was kept, or its header fields were renewed.
    public var storedAt: Timestamp
    public var lastUsedAt: Timestamp

    public init(
        id: CacheEntryID, owner: Owner, blob: String, response: StoredResponse, storedAt: Timestamp,
        lastUsedAt: Timestamp
    ) {
        self.id = id
        self.owner = owner
        self.blob = blob
        self.response = response
        self.storedAt = storedAt
        self.lastUsedAt = lastUsedAt
    }
}

/// Names an entry of the cache. Never reused; a response that takes another's place gets a new one.
public struct CacheEntryID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: CacheEntryID, right: CacheEntryID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// One page of the cache's entries.
public struct CachePage: Hashable, Sendable {
    public var entries: [CacheEntry]
    /// Nil on the last page.
    public var nextCursor: String?

    public init(entries: [CacheEntry], nextCursor: String? = nil) {
        self.entries = entries
        self.nextCursor = nextCursor
    }
}

/// The number and size of kept responses.
public struct CacheTotals: Hashable, Sendable {
    public var count: Int64
    /// Of the contents.
    public var byteCount: Int64

    public init(count: Int64 = 0, byteCount: Int64 = 0) {
        self.count = count
        self.byteCount = byteCount
    }
}
