/// The part of a source that a task downloads (RFC 9110 §14.1.2): the octets from `first` on, to `last` or to the end,
/// or the last `suffixLength` octets.
public struct SourceRange: Hashable, Sendable {
    /// The first offset, 0 or more; 0 if the part is a suffix.
    public let first: Int64
    /// The last octet, inclusive and at least `first`; nil is the end of the source.
    public let last: Int64?
    /// The length of a part at the end, at least 1, or the whole of a shorter source. Nil if the part is specified by
    /// its offsets.
    public let suffixLength: Int64?

    /// The accepted values, to follow the word "expected".
    public static let expected =
        "FIRST-LAST or FIRST-, offsets of bytes counted from 0, or -LENGTH for the last bytes, such as 0-1023 or -500"

    /// `FIRST-LAST`, `FIRST-` or `-LENGTH`; nil for anything else, for a last byte before the first one, for the last 0
    /// bytes, and for numbers beyond `ByteCount.greatest`.
    public init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let length = Decimal64.parse(ends[1]), length > 0 else { return nil }
            (first, last, suffixLength) = (0, nil, length)
            return
        }
        guard let first = Decimal64.parse(ends[0]) else { return nil }
        guard !ends[1].isEmpty else {
            (self.first, last, suffixLength) = (first, nil, nil)
            return
        }
        guard let last = Decimal64.parse(ends[1]), last >= first else { return nil }
        (self.first, self.last, suffixLength) = (first, last, nil)
    }
}

extension SourceRange: CustomStringConvertible {
    /// The range as text: `FIRST-LAST`, `FIRST-` or `-LENGTH`.
    public var description: String {
        suffixLength.map { "-\($0)" } ?? "\(first)-\(last.map { "\($0)" } ?? "")"
    }
}

extension SourceRange: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let range = SourceRange(text) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected \(Self.expected)"))
        }
        self = range
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
