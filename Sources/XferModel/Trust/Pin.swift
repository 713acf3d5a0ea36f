/// A certificate or key that a server's chain is compared with. `XferCurl.PinReader` makes pins from text.
public enum Pin: Hashable, Sendable, Codable {
    /// A whole certificate: byte for byte in mode `certificate`, by its key in mode `public_key`.
    case certificate(CertificatePin)
    /// A key by its digest, for mode `public_key`.
    case key(KeyPin)

    /// The key that the pin represents.
    public var key: KeyPin {
        switch self {
        case .certificate(let pin): pin.key
        case .key(let pin): pin
        }
    }
}

/// A pinned certificate with the facts that are needed without parsing it again.
public struct CertificatePin: Hashable, Sendable, Codable {
    /// The DER encoding.
    public let der: [UInt8]
    public let key: KeyPin
    /// The end of the certificate's validity.
    public let notAfter: Timestamp

    public init(der: [UInt8], key: KeyPin, notAfter: Timestamp) {
        self.der = der
        self.key = key
        self.notAfter = notAfter
    }

    private enum CodingKeys: String, CodingKey {
        case der, key
        case notAfter = "not_after"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let der = Base64.decode(try container.decode(String.self, forKey: .der)), !der.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .der, in: container, debugDescription: "expected base64")
        }
        self.der = der
        key = try container.decode(KeyPin.self, forKey: .key)
        notAfter = try container.decode(Timestamp.self, forKey: .notAfter)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Base64.encode(der), forKey: .der)
        try container.encode(key, forKey: .key)
        try container.encode(notAfter, forKey: .notAfter)
    }
}

/// SHA-256 of a SubjectPublicKeyInfo, written `sha256/BASE64` (RFC 7469 §2.4).
public struct KeyPin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The digest: exactly 32 bytes.
    public let digest: [UInt8]

    /// Creates the pin. Returns nil unless there are 32 bytes.
    public init?(digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.digest = digest
    }

    /// Reads `sha256/BASE64`.
    public init(_ text: some StringProtocol) throws(KeyPinError) {
        let (name, slash) = (text.prefix { $0 != "/" }, text.firstIndex(of: "/"))
        guard let slash else { throw .noAlgorithm }
        guard name == "sha256" else { throw .unknownAlgorithm(String(name.prefix(32))) }
        guard let bytes = Base64.decode(text[text.index(after: slash)...]) else { throw .notBase64 }
        guard let pin = KeyPin(digest: bytes) else { throw .wrongLength(bytes.count) }
        self = pin
    }

    public var description: String { "sha256/" + Base64.encode(digest) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(String.self))
        } catch let error as KeyPinError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The reason why a text is not a key pin.
public enum KeyPinError: Error, Hashable, Sendable, CustomStringConvertible {
    case noAlgorithm
    case unknownAlgorithm(String)
    case notBase64
    case wrongLength(Int)

    public var description: String {
        switch self {
        case .noAlgorithm: "expected sha256/ and 44 characters of base64"
        case .unknownAlgorithm(let name): "algorithm \"\(name)\" is not known, expected sha256"
        case .notBase64: "what follows sha256/ is not base64 (44 characters that end in =)"
        case .wrongLength(let count): "the digest has \(count) bytes, expected the 32 of SHA-256"
        }
    }
}
