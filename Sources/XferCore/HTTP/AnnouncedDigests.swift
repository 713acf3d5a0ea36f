public import XferModel

extension ResponseHead {
    /// Digests of the whole representation that the server announced and that can be checked here, best first.
    ///
    /// `Repr-Digest` (RFC 9530 §3) and `Digest` (RFC 3230) always speak of the whole; `Content-Digest` (RFC 9530 §2) and
    /// `Content-MD5` (RFC 1864) speak of this message's body and count only when that is the whole, a 200.
    public var announcedDigests: [Checksum] {
        var found = dictionary("Repr-Digest")
        if status == 200 { found += dictionary("Content-Digest") }
        found += legacyDigests
        if status == 200, let text = value("Content-MD5"), let digest = checksum("md5", base64: text) {
            found.append(digest)
        }
        var seen: Set<Checksum> = []
        let order = Checksum.Algorithm.allCases.sorted { $0.byteCount > $1.byteCount }
        return order.flatMap { algorithm in found.filter { $0.algorithm == algorithm && seen.insert($0).inserted } }
    }

    /// A structured dictionary of byte sequences: `sha-256=:BASE64:, sha-512=:BASE64:`.
    private func dictionary(_ name: String) -> [Checksum] {
        members(of: name).compactMap { key, value in
            guard value.count >= 2, value.hasPrefix(":"), let end = value.dropFirst().firstIndex(of: ":") else {
                return nil
            }
            return checksum(key, base64: value[value.index(after: value.startIndex)..<end])
        }
    }

    /// `Digest: SHA-256=BASE64,MD5=BASE64`.
    private var legacyDigests: [Checksum] {
        members(of: "Digest").compactMap { key, value in checksum(key, base64: value) }
    }

    private func members(of name: String) -> [(String, Substring)] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.flatMap { $0.value.split(separator: ",") }
            .compactMap { member in
                let text = member.drop { $0 == " " || $0 == "\t" }
                guard let equals = text.firstIndex(of: "=") else { return nil }
                let value = text[text.index(after: equals)...]
                return (text[..<equals].lowercased(), value.prefix { $0 != " " && $0 != "\t" })
            }
    }

    private func checksum(_ name: String, base64 text: some StringProtocol) -> Checksum? {
        let algorithm: Checksum.Algorithm? =
            switch name {
            case "sha-256": .sha256
            case "sha-512": .sha512
            case "sha", "sha-1": .sha1
            case "md5": .md5
            default: nil
            }
        guard let algorithm, let bytes = Base64.decode(text) else { return nil }
        return Checksum(algorithm: algorithm, bytes: bytes)
    }
}
