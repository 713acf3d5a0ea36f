/// The part of a source that a task downloads: the octets from `first` on, to `last` or to the end.
public struct SourceRange: Hashable, Sendable {
    /// 0 or more.
    public let first: Int64
    /// Inclusive, at least `first`; nil is the end of the source.
    public let last: Int64?

    /// The accepted values, to follow the word "expected".
    public static let expected = "FIRST-LAST or FIRST-, offsets of bytes counted from 0, such as 0-1023"

    /// `FIRST-LAST` or `FIRST-`; nil for anything else, for a last byte before the first one, and for numbers beyond
    /// `ByteCount.greatest`.
    public init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Decimal64.parse(ends[0]) else { return nil }
        guard !ends[1].isEmpty else {
            (self.first, last) = (first, nil)
            return
        }
        guard let last = Decimal64.parse(ends[1]), last >= first else { return nil }
        (self.first, self.last) = (first, last)
    }
}

extension SourceRange: CustomStringConvertible {
    /// The range as text: `FIRST-LAST` or `FIRST-`.
    public var description: String { "\(first)-\(last.map { "\($0)" } ?? "")" }
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
