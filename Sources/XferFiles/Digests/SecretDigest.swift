import COpenSSL

/// HMAC-SHA-256 (RFC 2104, RFC 6234) with one key.
///
/// The key goes in once: `HMAC(3)` looks up the algorithm and takes in the key at every call, which is most of its work
/// where messages are short.
public struct SecretDigest: Sendable {
    private let state: KeyState?

    public init(key: [UInt8]) { state = KeyState(key) }

    /// 32 bytes; nil when libcrypto cannot compute it.
    public func digest(_ bytes: [UInt8]) -> [UInt8]? { state?.digest(bytes) }
}

/// Both hashes as they are once the padded key has been taken in.
///
/// `@unchecked Sendable`: the contexts are only copied from (EVP_MD_CTX_copy_ex(3) takes them as const).
private final class KeyState: @unchecked Sendable {
    private static let blockLength = 64
    private let inner: OpaquePointer
    private let outer: OpaquePointer

    init?(_ key: [UInt8]) {
        guard let inner = EVP_MD_CTX_new() else { return nil }
        guard let outer = EVP_MD_CTX_new() else {
            EVP_MD_CTX_free(inner)
            return nil
        }
        (self.inner, self.outer) = (inner, outer)
        var block = key
        if key.count > Self.blockLength {
            block = [UInt8](repeating: 0, count: 32)
            guard EVP_Digest(key, key.count, &block, nil, EVP_sha256(), nil) == 1 else { return nil }
        }
        block += [UInt8](repeating: 0, count: Self.blockLength - block.count)
        guard Self.begin(inner, block.map { $0 ^ 0x36 }), Self.begin(outer, block.map { $0 ^ 0x5C }) else { return nil }
    }

    deinit {
        EVP_MD_CTX_free(inner)
        EVP_MD_CTX_free(outer)
    }

    func digest(_ bytes: [UInt8]) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var result = [UInt8](repeating: 0, count: 32)
        guard EVP_MD_CTX_copy_ex(context, inner) == 1, EVP_DigestUpdate(context, bytes, bytes.count) == 1,
            EVP_DigestFinal_ex(context, &result, nil) == 1,
            EVP_MD_CTX_copy_ex(context, outer) == 1, EVP_DigestUpdate(context, result, result.count) == 1,
            EVP_DigestFinal_ex(context, &result, nil) == 1
        else { return nil }
        return result
    }

    private static func begin(_ context: OpaquePointer, _ block: [UInt8]) -> Bool {
        EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 && EVP_DigestUpdate(context, block, block.count) == 1
    }
}
