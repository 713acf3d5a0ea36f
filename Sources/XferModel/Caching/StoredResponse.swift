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
    /// When the request was sent.
    public var requestTime: Timestamp
    /// When the response's head arrived.
    public var responseTime: Timestamp
    /// Bytes of the content.
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

    /// Whether it was reached by a redirect, whose freshness is unknown.
    public var isRedirected: Bool { url != finalURL }
}
