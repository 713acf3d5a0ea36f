/// The number of segments of a download that are fetched at the same time, each over a connection of its own.
public enum SegmentCount: Hashable, Sendable {
    /// The number, 1 … 16; 1 does not split.
    case exactly(Int)
    /// The number that the length and the measured rate justify.
    case automatic

    public static let range = 1...16
    public static let one = SegmentCount.exactly(1)

    /// The accepted values, to follow the word "expected".
    public static let expected = "an integer from \(range.lowerBound) to \(range.upperBound), or \"auto\""

    /// Creates a fixed count. Returns nil when it is out of range.
    public init?(_ count: Int) {
        guard Self.range.contains(count) else { return nil }
        self = .exactly(count)
    }

    /// `auto` or a number; nil for anything else.
    public init?(_ text: String) {
        if text == "auto" {
            self = .automatic
        } else {
            guard let number = Int(text, radix: 10), let count = SegmentCount(number) else { return nil }
            self = count
        }
    }

    /// The higher count; a number above one wins over `auto`, which may come to one.
    public static func highest(_ counts: some Sequence<SegmentCount>) -> SegmentCount {
        counts.max { $0.rank < $1.rank } ?? .one
    }

    private var rank: Int {
        switch self {
        case .exactly(let count): count == 1 ? 0 : count
        case .automatic: 1
        }
    }
}

extension SegmentCount: CustomStringConvertible {
    /// The form in which users write it: `auto` or the number.
    public var description: String {
        switch self {
        case .exactly(let count): String(count)
        case .automatic: "auto"
        }
    }
}

extension SegmentCount: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let count = SegmentCount(text) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected \(Self.expected)"))
        }
        self = count
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
