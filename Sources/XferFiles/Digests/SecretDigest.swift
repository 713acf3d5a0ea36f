import COpenSSL
import XferSystem

/// HMAC-SHA-256 (RFC 2104, RFC 6234; EVP_MAC(3)) with one key.
///
/// The key is set once: `HMAC(3)` would look up the algorithm and process the key at every call, which is most of its
/// work for short messages.
public struct SecretDigest: Sendable {
    private let keyed: KeyedContext?

    public init(key: [UInt8]) { keyed = KeyedContext(key) }

    /// 32 bytes; nil when libcrypto cannot compute it.
    public func digest(_ bytes: [UInt8]) -> [UInt8]? { keyed?.digest(bytes) }
}

/// OpenSSL's context with its key, which is reset for each digest: a copy of it would cost three times the digest of a
/// short message.
///
/// `@unchecked Sendable`: the context is used only while `lock` is locked.
private final class KeyedContext: @unchecked Sendable {
    private static let length = 32
    private let lock = Locked(())
    private let context: OpaquePointer

    init?(_ key: [UInt8]) {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        // The context has a reference of its own.
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        self.context = context
        var digest = Array("SHA256".utf8CString)
        let isKeyed = digest.withUnsafeMutableBufferPointer { digest in
            let parameters = [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_init(context, key, key.count, parameters) == 1
        }
        guard isKeyed else { return nil }
    }

    deinit { EVP_MAC_CTX_free(context) }

    func digest(_ bytes: [UInt8]) -> [UInt8]? {
        lock.withLock { _ in
            var result = [UInt8](repeating: 0, count: Self.length)
            var count = 0
            // Without a key the context begins with the one that it has.
            guard EVP_MAC_init(context, nil, 0, nil) == 1, EVP_MAC_update(context, bytes, bytes.count) == 1,
                EVP_MAC_final(context, &result, &count, Self.length) == 1, count == Self.length
            else { return nil }
            return result
        }
    }
}
