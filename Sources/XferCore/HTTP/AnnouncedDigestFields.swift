public import XferModel

/// The digests in the fields of a response, and the reasons why others were ignored.
public struct AnnouncedDigestFields: Hashable, Sendable {
    /// Digests of the whole representation that can be checked here, best first, each once.
    public var digests: [Checksum] = []
    /// Sentences for the log, one for each kind of server error that made a field or member unusable, at most 8. They
    /// contain no text from the server.
    public var ignored: [String] = []

    /// The highest number of mistakes of one response that are reported: a list can have thousands.
    private static let mostIgnored = 8

    /// Reads the digests that a response announces.
    ///
    /// `Repr-Digest` (RFC 9530 §3) and `Digest` (RFC 3230) always describe the whole. `Content-Digest` (RFC 9530 §2)
    /// and `Content-MD5` (RFC 1864) describe this message's body and count only when that is the whole, a 200. A
    /// structured field with one mistake is ignored as a whole (RFC 9651 §4.2). Unknown algorithms are skipped.
    public init(_ head: ResponseHead) {
        // Few responses have such a field, and every response is searched.
        guard head.fields.contains(where: { Field.named($0.name) != nil }) else { return }
        readDictionary(.reprDigest, in: head)
        if head.status == 200 { readDictionary(.contentDigest, in: head) }
        readLegacyList(in: head)
        if head.status == 200 { readContentMD5(in: head) }
        var seen: Set<Checksum> = []
        let order = Checksum.Algorithm.allCases.sorted { $0.byteCount > $1.byteCount }
        digests = order.flatMap { algorithm in
            digests.filter { $0.algorithm == algorithm && seen.insert($0).inserted }
        }
        var reported: Set<String> = []
        ignored = Array(ignored.filter { reported.insert($0).inserted }.prefix(Self.mostIgnored))
    }

    /// True if the field may announce digests.
    static func hasDigests(_ field: HeaderField) -> Bool { Field.named(field.name) != nil }

    private enum Field: String, CaseIterable {
        case reprDigest = "Repr-Digest"
        case contentDigest = "Content-Digest"
        case digest = "Digest"
        case contentMD5 = "Content-MD5"

        static func named(_ name: String) -> Field? {
            allCases.first { name.equalsIgnoringASCIICase($0.rawValue) }
        }

        func values(in head: ResponseHead) -> [String] {
            head.fields.filter { $0.name.equalsIgnoringASCIICase(rawValue) }.map(\.value)
        }
    }

    /// Reads a structured Dictionary of byte sequences: `sha-256=:BASE64:, sha-512=:BASE64:`.
    private mutating func readDictionary(_ field: Field, in head: ResponseHead) {
        let name = field.rawValue
        switch StructuredField.parseDictionary(name, in: head.fields) {
        case .absent: return
        case .tooLong: ignored.append("\(name) has more than \(StructuredField.maxLength) bytes or too many members")
        case .malformed: ignored.append("\(name) is not a dictionary of structured values (RFC 9651)")
        case .members(let members):
            // The order of the keys must not decide which sentence comes first.
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let algorithm = Self.algorithm(key) else { continue }
                guard case .bytes(let bytes) = value else {
                    ignored.append("\(algorithm.rawValue) in \(name) is not a byte sequence")
                    continue
                }
                append(bytes, algorithm, from: name)
            }
        }
    }

    /// Reads `Digest: SHA-256=BASE64,MD5=BASE64`.
    private mutating func readLegacyList(in head: ResponseHead) {
        let (name, values) = (Field.digest.rawValue, Field.digest.values(in: head))
        guard values.reduce(0, { $0 + $1.utf8.count }) <= StructuredField.maxLength else {
            ignored.append("\(name) has more than \(StructuredField.maxLength) bytes")
            return
        }
        for member in values.flatMap({ $0.split(separator: ",") }) {
            let text = member.drop { $0 == " " || $0 == "\t" }
            guard let equals = text.firstIndex(of: "="), let algorithm = Self.algorithm(text[..<equals].lowercased())
            else { continue }
            let digits = text[text.index(after: equals)...].prefix { $0 != " " && $0 != "\t" && $0 != ";" }
            appendDecoded(digits, algorithm, from: name)
        }
    }

    private mutating func readContentMD5(in head: ResponseHead) {
        let values = Set(Field.contentMD5.values(in: head))
        guard let text = values.first else { return }
        guard values.count == 1 else {
            ignored.append("\(Field.contentMD5.rawValue) occurs more than once, with different values")
            return
        }
        appendDecoded(text, .md5, from: Field.contentMD5.rawValue)
    }

    private mutating func appendDecoded(
        _ text: some StringProtocol, _ algorithm: Checksum.Algorithm, from field: String
    ) {
        guard text.utf8.count <= StructuredField.maxLength, let bytes = Base64.decode(text) else {
            ignored.append("\(algorithm.rawValue) in \(field) is not base64")
            return
        }
        append(bytes, algorithm, from: field)
    }

    private mutating func append(_ bytes: [UInt8], _ algorithm: Checksum.Algorithm, from field: String) {
        guard let checksum = Checksum(algorithm: algorithm, bytes: bytes) else {
            ignored.append(
                "\(algorithm.rawValue) in \(field) has \(bytes.count) bytes, expected \(algorithm.byteCount)")
            return
        }
        digests.append(checksum)
    }

    private static func algorithm(_ name: String) -> Checksum.Algorithm? {
        switch name {
        case "sha-256": .sha256
        case "sha-512": .sha512
        case "sha", "sha-1": .sha1
        case "md5": .md5
        default: nil
        }
    }
}

extension ResponseHead {
    /// The digests of the whole representation that the server announced and that can be checked here, best first.
    public var announcedDigests: [Checksum] { AnnouncedDigestFields(self).digests }
}

extension TransferRequest {
    /// The best digest that a response announces, if the request wants such digests to be verified.
    public func announcedDigest(of head: ResponseHead) -> Checksum? {
        announcedDigests == .verify ? head.announcedDigests.first : nil
    }

    /// Reasons why digests of a response were ignored as mistakes; empty if the request does not want digests.
    public func ignoredDigests(of head: ResponseHead) -> [String] {
        announcedDigests == .verify ? AnnouncedDigestFields(head).ignored : []
    }
}
