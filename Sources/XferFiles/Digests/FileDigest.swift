import COpenSSL
import Glibc
public import XferModel

/// Computes digests of open files. Blocks for as long as reading takes: run it on a `BlockingPool`.
public enum FileDigest {
    static let readSize = 1 << 20

    /// Computes the digest of the first `length` bytes. Reads with pread(2), so the descriptor's offset does not
    /// change.
    ///
    /// - Parameter isCancelled: called before every read, of at most 1 MiB.
    /// - Throws: `lengthMismatch` if the file is shorter than `length`, `digestUnavailable`, `cancelled`, `system`.
    public static func compute(
        descriptor: Int32, algorithm: Checksum.Algorithm, length: Int64, path: String = "the file",
        isCancelled: () -> Bool = { false }
    ) throws(FileError) -> Checksum {
        var context = try DigestContext(algorithm)
        posix_fadvise(descriptor, 0, Int(clamping: length), POSIX_FADV_SEQUENTIAL)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < length {
            if isCancelled() { throw .cancelled }
            let wanted = Int(clamping: min(Int64(clamping: readSize), length - offset))
            let count = try perform("read", on: path) {
                pread(descriptor, buffer.baseAddress, wanted, Int(clamping: offset))
            }
            guard count > 0 else { throw .lengthMismatch(path: path, expected: length, found: offset) }
            context.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(clamping: count)
        }
        return try context.finish()
    }

    /// Computes the digest of bytes in memory.
    public static func compute(_ bytes: [UInt8], algorithm: Checksum.Algorithm) throws(FileError) -> Checksum {
        var context = try DigestContext(algorithm)
        bytes.withUnsafeBytes { context.update($0) }
        return try context.finish()
    }

    /// Computes the digest of a partial file's first `length` bytes.
    public static func compute(
        _ file: PartialFile, algorithm: Checksum.Algorithm, length: Int64, isCancelled: () -> Bool = { false }
    ) throws(FileError) -> Checksum {
        let handle = try file.handle()
        return try compute(
            descriptor: handle.raw, algorithm: algorithm, length: length, path: file.path, isCancelled: isCancelled)
    }
}

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
        // `EVP_DigestUpdate` cannot fail on an initialised context.
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
        case .sha384: EVP_sha384()
        case .sha224: EVP_sha224()
        case .blake2b: EVP_blake2b512()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }
}
