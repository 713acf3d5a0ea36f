/// A digest that the finished bytes must have.
public struct Checksum: Hashable, Sendable, Codable {
    public enum Algorithm: String, Sendable, Codable, CaseIterable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
        case sha1 = "sha-1"
        case md5

        /// Whether no other bytes with this digest can be made: then it alone proves that bytes are right.
        public var isStrong: Bool {
            switch self {
            case .sha256, .sha512: true
            case .sha1, .md5: false
            }
        }

        /// Length of the digest in bytes.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            case .sha1: 20
            case .md5: 16
            }
        }
    }

    public let algorithm: Algorithm
    /// Exactly `algorithm.byteCount` bytes.
    public let bytes: [UInt8]

    /// Nil unless the number of bytes is the algorithm's.
    public init?(algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Reads `sha-256=<hex or base64>`; `sha256`, `sha512` and `sha1` without the dash are taken too, case does not matter.
    public init(parsing text: String) throws(ChecksumSyntaxError) {
        guard let separator = text.firstIndex(where: { $0 == "=" || $0 == ":" }) else { throw .noAlgorithm }
        let name = text[..<separator].lowercased()
        let known = Algorithm.allCases.first { $0.rawValue == name || $0.rawValue.filter { $0 != "-" } == name }
        guard let algorithm = known else { throw .unknownAlgorithm(name) }
        let digits = text[text.index(after: separator)...]
        let decoded = Self.hex(digits) ?? Base64.decode(digits)
        guard let bytes = decoded else { throw .notHexOrBase64 }
        guard bytes.count == algorithm.byteCount else {
            throw .wrongLength(algorithm, expected: algorithm.byteCount, found: bytes.count)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// `sha-256=<lower-case hex>`.
    public var description: String { "\(algorithm.rawValue)=\(hexDigits)" }

    /// The digest in lower-case hex.
    public var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int(clamping: $0 >> 4)], digits[Int(clamping: $0 & 15)]] }, as: UTF8.self)
    }

    private static func hex(_ digits: Substring) -> [UInt8]? {
        let nibbles = digits.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard !nibbles.isEmpty, nibbles.count.isMultiple(of: 2), !nibbles.contains(nil) else { return nil }
        let values = nibbles.compactMap(\.self)
        return stride(from: 0, to: values.count, by: 2).map { UInt8(clamping: values[$0] << 4 | values[$0 + 1]) }
    }
}

/// Why a checksum's text was refused.
public enum ChecksumSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    case noAlgorithm
    case unknownAlgorithm(String)
    case notHexOrBase64
    case wrongLength(Checksum.Algorithm, expected: Int, found: Int)

    public var description: String {
        switch self {
        case .noAlgorithm: "expected ALGORITHM=DIGEST, for example sha-256=<64 hex digits>"
        case .unknownAlgorithm(let name): "unknown algorithm \"\(name)\", expected sha-256, sha-512, sha-1 or md5"
        case .notHexOrBase64: "the digest is neither hex nor base64"
        case .wrongLength(let algorithm, let expected, let found):
            "\(algorithm.rawValue) has \(expected) bytes, the text has \(found)"
        }
    }
}
