public import StrictJSON
public import XferModel

/// A cached response.
public struct CacheEntryRecord: WireRecord, Hashable {
    public var id = CacheEntryID(0)
    public var owner = Owner(uid: 0)
    public var url = ""
    public var finalURL: String?
    public var httpStatus = 0
    public var size: Int64 = 0
    public var etag: String?
    public var contentEncoding: String?
    public var receivedAt = Timestamp(microseconds: 0)
    public var storedAt = Timestamp(microseconds: 0)
    public var lastUsedAt = Timestamp(microseconds: 0)
    public var freshUntil: Timestamp?
    public var varies: [String]?
    public var digest: String?
    public var responseHeaders: HeaderList?

    public init() {}

    /// - Parameters:
    ///   - freshUntil: nil if the entry is stale and has to be validated before use.
    ///   - isDetailed: true if the record includes header fields and digest.
    public init(_ entry: CacheEntry, freshUntil: Timestamp?, isDetailed: Bool = false) {
        let response = entry.response
        id = entry.id
        owner = entry.owner
        url = response.url.description
        finalURL = response.isRedirected ? response.finalURL.description : nil
        httpStatus = response.status
        size = response.length
        etag = response.fields.firstValue(named: "ETag")
        contentEncoding = response.fields.firstValue(named: "Content-Encoding")
        receivedAt = response.responseTime
        storedAt = entry.storedAt
        lastUsedAt = entry.lastUsedAt
        self.freshUntil = freshUntil
        varies = response.variant.isEmpty ? nil : response.variant.map(\.name)
        guard isDetailed else { return }
        digest = Checksum(algorithm: .sha256, bytes: response.digest)?.description
        responseHeaders = response.fields.isEmpty ? nil : HeaderList(response.fields).redacted
    }

    public static let summary = "A cached response."
    public static let wireFields: WireFields<Self> = [
        .required("id", \.id, "Identifies the entry."),
        .required("owner", \.owner, "Uid of the user for whom it was fetched or put; only this user's tasks use it."),
        .required("url", \.url, "Requested URL; secrets in it are ***."),
        .optional("final_url", \.finalURL, "URL that sent it, if redirects led elsewhere."),
        .required("http_status", \.httpStatus, "The response's status."),
        .required("size", \.size, "Bytes of its content."),
        .optional("etag", \.etag, "Its entity tag."),
        .optional("content_encoding", \.contentEncoding, "The coding of its content, if not identity."),
        .required("received_at", \.receivedAt, "Time of the response, or of its last validation."),
        .required("stored_at", \.storedAt, "Time at which it was stored or renewed."),
        .required("last_used_at", \.lastUsedAt, "Time of its last use."),
        .optional(
            "fresh_until", \.freshUntil,
            "Time until which it is used without a request to the server; absent when it is stale."),
        .optional(
            "varies", \.varies, "Request header fields that must have the same values as in the original request."),
        .optional("digest", \.digest, "SHA-256 of its content; only from cache.get."),
        .optional("response_headers", \.responseHeaders, "Its header fields; only from cache.get."),
    ]
}

extension CacheEntryID: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .integer(let number) = value else { throw .wrongType(expected: "an entry's id, an integer") }
        guard WireID.range.contains(number) else { throw WireID.outOfRange("an entry's id") }
        self.init(number)
    }
    public var wire: JSONValue { .integer(rawValue) }
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "CacheEntryID") { _ in
            [
                "description": "Identifies an entry of the cache; never reused.", "type": "integer", "minimum": 1,
                "maximum": .integer(WireID.range.upperBound),
            ]
        }
    }
}
