import COpenSSL
public import XferModel

/// A running message digest through OpenSSL's EVP interface (EVP_DigestInit(3ssl)).
public struct Digest: ~Copyable {
    private let algorithm: Checksum.Algorithm
    private let context: OpaquePointer?

    public init(_ algorithm: Checksum.Algorithm) {
        self.algorithm = algorithm
        context = EVP_MD_CTX_new()
        let kind =
            switch algorithm {
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            case .sha384: EVP_sha384()
            case .sha224: EVP_sha224()
            case .blake2b: EVP_blake2b512()
            case .sha1: EVP_sha1()
            case .md5: EVP_md5()
            }
        precondition(EVP_DigestInit_ex(context, kind, nil) == 1, "OpenSSL does not offer \(algorithm.rawValue)")
    }

    deinit { EVP_MD_CTX_free(context) }

    public mutating func update(_ bytes: [UInt8]) {
        let done = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1, "EVP_DigestUpdate failed")
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "EVP_DigestUpdate failed")
    }

    public consuming func finish() -> Checksum {
        var bytes = [UInt8](repeating: 0, count: algorithm.byteCount)
        precondition(EVP_DigestFinal_ex(context, &bytes, nil) == 1, "EVP_DigestFinal_ex failed")
        guard let checksum = Checksum(algorithm: algorithm, bytes: bytes) else {
            preconditionFailure("a digest has its algorithm's length")
        }
        return checksum
    }

    /// The digest of these bytes.
    public static func of(_ bytes: [UInt8], _ algorithm: Checksum.Algorithm = .sha256) -> Checksum {
        var digest = Digest(algorithm)
        digest.update(bytes)
        return digest.finish()
    }
}
