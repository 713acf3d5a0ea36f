/// An IPv4 or IPv6 address by its bytes, in network order: 4 or 16 of them.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// Reads dotted-decimal IPv4 (four numbers without leading zeros) or IPv6 text (RFC 4291 §2.2); no brackets, no
    /// zone.
    public init?(_ text: some StringProtocol) {
        guard let bytes = text.contains(":") ? Self.parse6(text) : Self.parse4(text) else { return nil }
        self.bytes = bytes
    }

    /// Reads a URL's host: IPv6 in brackets, a zone is dropped.
    public init?(host: some StringProtocol) {
        guard host.utf8.first == UInt8(ascii: "[") else {
            guard let bytes = Self.parse4(host) else { return nil }
            self.bytes = bytes
            return
        }
        guard host.hasSuffix("]") else { return nil }
        let inner = host.dropFirst().dropLast().prefix { $0 != "%" }
        guard let bytes = Self.parse6(inner) else { return nil }
        self.bytes = bytes
    }

    /// Creates the address. Returns nil unless there are 4 or 16 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    public var isIPv6: Bool { bytes.count == 16 }

    /// The IPv4 address that an IPv4-mapped one (RFC 4291 §2.5.5.2) leads to, else itself.
    public var unmapped: IPAddress {
        let isMapped = isIPv6 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        return isMapped ? IPAddress(bytes: Array(bytes[12...])) ?? self : self
    }

    /// RFC 5952 §4 for IPv6.
    public var description: String {
        guard isIPv6 else { return bytes.map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map {
            UInt16(clamping: bytes[$0]) << 8 | UInt16(clamping: bytes[$0 + 1])
        }
        let texts = groups.map { String($0, radix: 16) }
        guard let zeros = Self.longestZeros(groups) else { return texts.joined(separator: ":") }
        return texts[..<zeros.lowerBound].joined(separator: ":") + "::"
            + texts[zeros.upperBound...].joined(separator: ":")
    }

    /// The first longest run of at least two zero groups.
    private static func longestZeros(_ groups: [UInt16]) -> Range<Int>? {
        var best: Range<Int>?
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start >= 2, index - start > (best?.count ?? 0) { best = start..<index }
            start = index + 1
        }
        return best
    }

    private static func parse4(_ text: some StringProtocol) -> [UInt8]? {
        // Most hosts are names, which their first bytes show.
        var bytes: [UInt8] = []
        var number: UInt16?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "."):
                guard let value = number, bytes.count < 3 else { return nil }
                bytes.append(UInt8(clamping: value))
                number = nil
            case 48...57 where number != 0:
                let value = (number ?? 0) * 10 + UInt16(clamping: byte - 48)
                guard value <= 255 else { return nil }
                number = value
            default:
                return nil
            }
        }
        guard let number, bytes.count == 3 else { return nil }
        return bytes + [UInt8(clamping: number)]
    }

    private static func parse6(_ text: some StringProtocol) -> [UInt8]? {
        let text = String(text)
        guard let gap = doubleColon(in: text) else {
            guard let bytes = groups(text[...]), bytes.count == 16 else { return nil }
            return bytes
        }
        guard let head = groups(text[..<gap.lowerBound], endsText: false), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func doubleColon(in text: String) -> Range<String.Index>? {
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" { return index..<text.index(after: next) }
            index = next
        }
        return nil
    }

    /// Groups between single colons, the text's last one possibly dotted-decimal; empty text has no groups.
    private static func groups(_ text: Substring, endsText: Bool = true) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if endsText, index == parts.count - 1, part.contains(".") {
                guard let four = parse4(part) else { return nil }
                bytes += four
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.first != UInt8(ascii: "+"),
                let value = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(clamping: value >> 8), UInt8(clamping: value & 0xff)]
        }
        return bytes
    }
}
