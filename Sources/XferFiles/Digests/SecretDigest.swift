import COpenSSL

/// HMAC-SHA-256 (RFC 2104, RFC 6234; HMAC(3)) with one key.
public struct SecretDigest: Sendable {
    private let key: [UInt8]

    public init(key: [UInt8]) { self.key = key }

    /// 32 bytes; nil when libcrypto cannot compute it.
    public func digest(_ bytes: [UInt8]) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &result, &length) != nil, length == 32
        else { return nil }
        return Array(result[..<32])
    }
}
