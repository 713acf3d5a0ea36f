import COpenSSL
public import XferModel

/// Computes a digest of bytes that arrive in pieces (libcrypto, EVP_DigestInit(3)).
public struct DigestContext: ~Copyable {
    private let context: OpaquePointer
    private let algorithm: Checksum.Algorithm

    /// - Throws: `digestUnavailable` when libcrypto does not offer the algorithm.
    public init(_ algorithm: Checksum.Algorithm) throws(FileError) {
        guard let context = EVP_MD_CTX_new() else { throw .digestUnavailable(algorithm: algorithm.rawValue) }
        guard EVP_DigestInit_ex(context, Self.implementation(algorithm), nil) == 1 else {
            EVP_MD_CTX_free(context)
            throw .digestUnavailable(algorithm: algorithm.rawValue)
        }
        self.context = context
        self.algorithm = algorithm
    }

    deinit { EVP_MD_CTX_free(context) }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // Cannot fail on an initialised context.
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all bytes passed to `update`.
    public consuming func finish() throws(FileError) -> Checksum {
        var bytes = [UInt8](repeating: 0, count: algorithm.byteCount)
        guard EVP_DigestFinal_ex(context, &bytes, nil) == 1, let sum = Checksum(algorithm: algorithm, bytes: bytes)
        else { throw .digestUnavailable(algorithm: algorithm.rawValue) }
        return sum
    }

    private static func implementation(_ algorithm: Checksum.Algorithm) -> OpaquePointer? {
        switch algorithm {
        case .sha256: EVP_sha256()
        case .sha512: EVP_sha512()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }
}
