/// Reads the tags and texts of an XML-RPC message, from front to back.
struct XMLReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Longest name of a tag.
    private static let maxName = 32

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Skips `<?xml … ?>`.
    mutating func skipDeclaration() throws(XMLRPCFault) {
        if starts(with: "\u{FEFF}") { position += 3 }
        skipSpace()
        guard starts(with: "<?xml") else { return }
        guard let end = bytes[position...].firstRange(of: Array("?>".utf8)) else {
            throw XMLRPCFault("the declaration does not end")
        }
        position = end.upperBound
    }

    mutating func open(_ name: String) throws(XMLRPCFault) {
        guard try opens(name) else { throw expected("<\(name)>") }
    }

    mutating func close(_ name: String) throws(XMLRPCFault) {
        guard try closes(name) else { throw expected("</\(name)>") }
    }

    /// Skips the start tag if it comes next.
    mutating func opens(_ name: String) throws(XMLRPCFault) -> Bool { skip("<\(name)", end: ">") }

    /// Skips the end tag if it comes next.
    mutating func closes(_ name: String) throws(XMLRPCFault) -> Bool { skip("</\(name)", end: ">") }

    /// Skips `<name/>` if it comes next.
    mutating func isEmptyElement(_ name: String) throws(XMLRPCFault) -> Bool { skip("<\(name)", end: "/>") }

    /// The name of the start tag that comes next, which is not skipped; nil if something else comes.
    func nextOpening() throws(XMLRPCFault) -> String? {
        var reader = self
        reader.skipSpace()
        guard reader.starts(with: "<"), !reader.starts(with: "</") else { return nil }
        let name = reader.bytes[(reader.position + 1)...].prefix { Self.isName($0) }
        guard (1...Self.maxName).contains(name.count) else { throw XMLRPCFault("expected the name of a tag") }
        return String(decoding: name, as: UTF8.self)
    }

    /// The text up to the end tag, which is skipped.
    mutating func text(until name: String) throws(XMLRPCFault) -> String {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) else { throw expected("</\(name)>") }
        let raw = bytes[position..<end]
        position = end
        try close(name)
        guard let text = String(validating: raw, as: UTF8.self) else { throw XMLRPCFault("the text is not UTF-8") }
        return text.utf8.contains(UInt8(ascii: "&")) ? try Self.resolved(text) : text
    }

    /// Checks that only white space follows.
    mutating func end() throws(XMLRPCFault) {
        skipSpace()
        guard position == bytes.count else { throw XMLRPCFault("unexpected text after the call") }
    }

    // MARK: Parts

    private mutating func skip(_ begin: String, end: String) -> Bool {
        var reader = self
        reader.skipSpace()
        guard reader.starts(with: begin) else { return false }
        reader.position += begin.utf8.count
        reader.skipSpace()
        guard reader.starts(with: end) else { return false }
        reader.position += end.utf8.count
        self = reader
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private func expected(_ what: String) -> XMLRPCFault { XMLRPCFault("expected \(what) at byte \(position)") }

    private static func isName(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || byte == UInt8(ascii: ".")
    }

    /// Resolves the entities that XML knows without a document type, and characters by number (XML 1.0 §4.1, §4.6).
    private static func resolved(_ text: String) throws(XMLRPCFault) -> String {
        var result = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: ";"), rest[..<end].utf8.count <= 8 else {
                throw XMLRPCFault("an entity does not end")
            }
            result.unicodeScalars.append(try scalar(rest[..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func scalar(_ entity: Substring) throws(XMLRPCFault) -> Unicode.Scalar {
        switch entity {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let number =
            entity.hasPrefix("#x")
            ? UInt32(entity.dropFirst(2), radix: 16)
            : entity.hasPrefix("#") ? UInt32(entity.dropFirst(), radix: 10) : nil
        guard let number, let scalar = Unicode.Scalar(number), number >= 0x20 || [9, 10, 13].contains(number) else {
            throw XMLRPCFault("there is no entity \(entity)")
        }
        return scalar
    }
}
