extension Checksum {
    /// Reads a digest in one of the forms in which people publish them:
    ///
    /// * `sha-256=<hex or base64>`, also with `:` and with other spellings of the algorithm (`SHA256: …`);
    /// * subresource integrity (W3C SRI), `sha256-<base64>`, of which the strongest is used if there are several;
    /// * a line of a file of sha256sum(1) and similar programs, `<hex>  name` or `SHA256 (name) = <hex>`;
    /// * hex digits alone, whose number distinguishes MD5, SHA-1 and the members of SHA-2.
    public init(parsing text: String) throws(ChecksumSyntaxError) {
        if let shown = Self.shown(text) {
            self = shown
            return
        }
        let text = Self.trimmed(text[...])
        guard !text.contains(where: \.isNewline) else { throw .severalLines }
        if let integrity = try Self.integrity(text) {
            self = integrity
        } else if let line = try Self.untagged(text) {
            self = line
        } else if let line = try Self.tagged(text) {
            self = line
        } else {
            guard let separator = text.firstIndex(where: { $0 == "=" || $0 == ":" }) else { throw .noAlgorithm }
            try self.init(Self.trimmed(text[..<separator]), Self.trimmed(text[text.index(after: separator)...]))
        }
    }

    /// - Parameters:
    ///   - name: the algorithm in any usual spelling.
    ///   - digits: the digest in hex or base64.
    private init(_ name: Substring, _ digits: Substring) throws(ChecksumSyntaxError) {
        guard let algorithm = Algorithm(spelled: name) else { throw .unknownAlgorithm(name.lowercased()) }
        try self.init(algorithm, digits)
    }

    private init(_ algorithm: Algorithm, _ digits: Substring) throws(ChecksumSyntaxError) {
        guard let bytes = Self.hex(digits) ?? Base64.decode(digits) else { throw .notHexOrBase64 }
        guard let checksum = Checksum(algorithm: algorithm, bytes: bytes) else {
            throw .wrongLength(algorithm, expected: algorithm.byteCount, found: bytes.count)
        }
        self = checksum
    }

    // MARK: The forms

    /// The form of `description`, which rows of the database have.
    private static func shown(_ text: String) -> Checksum? {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")),
            let algorithm = Algorithm(rawValue: String(text[..<equals])), let bytes = hex(text[equals...].dropFirst())
        else { return nil }
        return Checksum(algorithm: algorithm, bytes: bytes)
    }

    /// Reads integrity metadata: items of `sha256`, `sha384` or `sha512`, a dash, base64 and perhaps options after `?`.
    /// Returns nil if the text does not begin with such an item.
    private static func integrity(_ text: Substring) throws(ChecksumSyntaxError) -> Checksum? {
        var best: Checksum?
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard let dash = word.firstIndex(of: "-"),
                let algorithm = integrityAlgorithms[word[..<dash].lowercased()]
            else { return best }
            let digits = word[word.index(after: dash)...].prefix { $0 != "?" }
            // The encoding for URLs is allowed, too.
            let plain = digits.replacing("-", with: "+").replacing("_", with: "/")
            let found = try Checksum(algorithm, plain[...])
            if found.bytes.count > best?.bytes.count ?? 0 { best = found }
        }
        return best
    }

    private static let integrityAlgorithms: [String: Algorithm] = [
        "sha256": .sha256, "sha384": .sha384, "sha512": .sha512,
    ]

    /// `SHA256 (name) = <hex>`, as BSD's programs and `sha256sum --tag` write it, or `SHA2-256(name)= <hex>` of
    /// openssl(1).
    private static func tagged(_ text: Substring) throws(ChecksumSyntaxError) -> Checksum? {
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close else { return nil }
        let rest = trimmed(text[text.index(after: close)...])
        guard rest.hasPrefix("=") else { return nil }
        return try Checksum(trimmed(text[..<open].drop { $0 == "\\" }), trimmed(rest.dropFirst()))
    }

    /// Reads hex digits, alone or before a name. A backslash before them means that the name has escapes.
    private static func untagged(_ text: Substring) throws(ChecksumSyntaxError) -> Checksum? {
        let line = text.hasPrefix("\\") ? text.dropFirst() : text
        let digits = line.prefix { !$0.isWhitespace }
        guard let bytes = hex(digits) else { return nil }
        // BLAKE2b has as many digits as SHA-512, and is never meant without its name.
        let algorithm = Algorithm.allCases.first { $0.byteCount == bytes.count && $0 != .blake2b }
        guard let algorithm else { throw .unknownLength(digits.count) }
        return Checksum(algorithm: algorithm, bytes: bytes)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? start
        return text[start..<end]
    }

    private static func hex(_ digits: Substring) -> [UInt8]? {
        let nibbles = digits.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard !nibbles.isEmpty, nibbles.count.isMultiple(of: 2), !nibbles.contains(nil) else { return nil }
        let values = nibbles.compactMap(\.self)
        return stride(from: 0, to: values.count, by: 2).map { UInt8(clamping: values[$0] << 4 | values[$0 + 1]) }
    }
}

extension Checksum.Algorithm {
    /// Reads the name in any case, with and without dashes: `sha-256`, `SHA256`, `SHA2-256`, `BLAKE2b`.
    fileprivate init?(spelled name: Substring) {
        let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
        let spellings: [String: Self] = [
            "sha256": .sha256, "sha2256": .sha256, "sha512": .sha512, "sha2512": .sha512, "sha384": .sha384,
            "sha2384": .sha384, "sha224": .sha224, "sha2224": .sha224, "blake2b": .blake2b, "blake2b512": .blake2b,
            "sha1": .sha1, "md5": .md5,
        ]
        guard let known = spellings[plain] else { return nil }
        self = known
    }
}

/// A reason why a checksum's text was refused.
public enum ChecksumSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    case noAlgorithm
    case unknownAlgorithm(String)
    case notHexOrBase64
    case wrongLength(Checksum.Algorithm, expected: Int, found: Int)
    case unknownLength(Int)
    case severalLines

    public var description: String {
        switch self {
        case .noAlgorithm:
            "expected ALGORITHM=DIGEST, for example sha-256=<64 hex digits>, the digits alone, or a line of a checksum file"
        case .unknownAlgorithm(let name):
            "unknown algorithm \"\(name)\", expected sha-256, sha-512, sha-384, sha-224, blake2b, sha-1 or md5"
        case .notHexOrBase64: "the digest is neither hex nor base64"
        case .wrongLength(let algorithm, let expected, let found):
            "\(algorithm.rawValue) has \(expected) bytes, the text has \(found)"
        case .unknownLength(let digits):
            "no algorithm has \(digits) hex digits; expected 64 (sha-256), 128 (sha-512), 96 (sha-384), 56 (sha-224), "
                + "40 (sha-1) or 32 (md5)"
        case .severalLines: "expected one line of a checksum file, found several"
        }
    }
}
