import COpenSSL

/// SHA-256 (FIPS 180-4) of bytes in memory.
public enum SHA256Digest {
    /// Lower-case hexadecimal digits.
    public static func hex(of bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1
        precondition(isDone, "OpenSSL lacks SHA-256")
        return digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
