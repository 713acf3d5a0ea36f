/// A content coding that this service can undo (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// - Parameter name: as in a header field; case is ignored.
    public init?(name: String) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}
