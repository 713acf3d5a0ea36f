/// A digest that the finished bytes must have.
public struct Checksum: Hashable, Sendable, Codable {
    public enum Algorithm: String, Sendable, Codable, CaseIterable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
        case sha384 = "sha-384"
        case sha224 = "sha-224"
        /// A digest of 512 bits (RFC 7693), like that of b2sum(1).
        case blake2b
        case sha1 = "sha-1"
        case md5

        /// True if no other bytes with this digest can be made. Then the digest alone proves that bytes are correct.
        public var isStrong: Bool {
            switch self {
            case .sha256, .sha512, .sha384, .sha224, .blake2b: true
            case .sha1, .md5: false
            }
        }

        /// Length of the digest in bytes.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha512, .blake2b: 64
            case .sha384: 48
            case .sha224: 28
            case .sha1: 20
            case .md5: 16
            }
        }
    }

    public let algorithm: Algorithm
    /// The digest: exactly `algorithm.byteCount` bytes.
    public let bytes: [UInt8]

    /// Creates the digest. Returns nil unless the number of bytes is the algorithm's.
    public init?(algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// The text `sha-256=<lower-case hex>`.
    public var description: String { "\(algorithm.rawValue)=\(hexDigits)" }

    /// The digest in lower-case hex.
    public var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int(clamping: $0 >> 4)], digits[Int(clamping: $0 & 15)]] }, as: UTF8.self)
    }
}
