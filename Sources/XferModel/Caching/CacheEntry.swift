/// A kept response as an entry of the cache.
public struct CacheEntry: Hashable, Sendable {
    public var id: CacheEntryID
    public var owner: Owner
    /// Name of the content's file in the cache directory.
    public var blob: String
    public var response: StoredResponse
    /// The time at which the response was stored, or its header fields were renewed.
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

/// Identifies an entry of the cache. Never reused; a response that replaces another gets a new one.
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
    /// The place behind each entry.
    public var cursors: [String]
    /// The cursor of the next page, or nil on the last page.
    public var nextCursor: String?

    public init(entries: [CacheEntry], cursors: [String] = [], nextCursor: String? = nil) {
        self.entries = entries
        self.cursors = cursors
        self.nextCursor = nextCursor
    }
}

/// The number and size of kept responses.
public struct CacheTotals: Hashable, Sendable {
    public var count: Int64
    /// The size of the stored contents in bytes.
    public var byteCount: Int64

    public init(count: Int64 = 0, byteCount: Int64 = 0) {
        self.count = count
        self.byteCount = byteCount
    }
}

/// A complete kept response, with the data that RFC 9111 needs. Its content is in a blob.
public struct StoredResponse: Hashable, Sendable {
    /// The requested URL, secrets in it included.
    public var url: HTTPURL
    /// The URL of the content after redirects.
    public var finalURL: HTTPURL
    public var status: Int
    /// The fields that are kept (RFC 9111 §3.1), in order.
    public var fields: [HeaderField]
    /// The request fields that `Vary` names (§4.1): by lower-case name, values as a digest, empty for an absent field.
    public var variant: [HeaderField]
    /// The time at which the request was sent.
    public var requestTime: Timestamp
    /// The time at which the response's head arrived.
    public var responseTime: Timestamp
    /// The length of the content in bytes.
    public var length: Int64
    /// SHA-256 of the content.
    public var digest: [UInt8]
    /// The servers that sent it. Empty also where only the built-in default policy judged.
    public var sources: [SourceEvidence]

    public init(
        url: HTTPURL, finalURL: HTTPURL, status: Int = 200, fields: [HeaderField] = [], variant: [HeaderField] = [],
        requestTime: Timestamp, responseTime: Timestamp, length: Int64 = 0, digest: [UInt8] = [],
        sources: [SourceEvidence] = []
    ) {
        self.url = url
        self.finalURL = finalURL
        self.status = status
        self.fields = fields
        self.variant = variant
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.length = length
        self.digest = digest
        self.sources = sources
    }

    /// True if it was reached through a redirect, whose freshness is unknown.
    public var isRedirected: Bool { url != finalURL }
}
