import XferFiles

/// The signature by which a receiver knows that a delivery is the service's and was made just now.
///
/// `v1=` and the HMAC-SHA-256 (RFC 2104), in hexadecimal digits, of the timestamp, a full stop and the body. The
/// timestamp is part of it, so that a receiver can refuse a copy that is sent again later.
enum WebhookSignature {
    static let timestampField = "X-Xfer-Timestamp"
    static let signatureField = "X-Xfer-Signature"

    /// The signature, or nil when libcrypto cannot compute it.
    ///
    /// - Parameter timestamp: the value of `timestampField`, seconds since 1970.
    static func value(of body: [UInt8], timestamp: String, secret: String) -> String? {
        let signed = Array(timestamp.utf8) + [UInt8(ascii: ".")] + body
        guard let digest = SecretDigest(key: Array(secret.utf8)).digest(signed) else { return nil }
        return "v1=" + digest.map { hexadecimal($0) }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}
