/// A set of HTTP status codes, written `200-299`, `404` or `200-299,404`.
public struct StatusSet: Hashable, Sendable, CustomStringConvertible {
    /// The codes that a status can have.
    public static let codes = 100...599

    /// The statuses of success, 200 to 299.
    public static let success = StatusSet(200...299)

    /// The form that `init?(_:)` reads, for a sentence that begins with "expected".
    public static let expected = #"status codes from 100 to 599, such as "200-299", "404" or "200-299,404""#

    /// The ranges in ascending order. None touches the next; there is at least one.
    public let ranges: [ClosedRange<Int>]

    public init(_ range: ClosedRange<Int>) { ranges = [range] }

    /// Makes the union of the ranges, which may overlap; nil if there is none.
    public init?(_ ranges: [ClosedRange<Int>]) {
        var joined: [ClosedRange<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound.addingSaturated(1) {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        guard !joined.isEmpty else { return nil }
        self.ranges = joined
    }

    /// Reads codes and ranges of codes between commas, with optional blanks; nil if the text is anything else.
    public init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for element in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(element) else { return nil }
            ranges.append(range)
        }
        self.init(ranges)
    }

    public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    public var description: String {
        ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }

    private static func range(_ element: Substring) -> ClosedRange<Int>? {
        let blankless = element.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        let bounds = Substring(blankless).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = code(bounds[0]), let last = bounds.count == 1 ? first : code(bounds[1]), first <= last
        else { return nil }
        return first...last
    }

    private static func code(_ text: Substring) -> Int? {
        guard text.utf8.count == 3, text.utf8.allSatisfy({ (48...57).contains($0) }), let code = Int(text, radix: 10),
            codes.contains(code)
        else { return nil }
        return code
    }
}

/// The bounds of all ranges in one array. A single range has the form that profiles had before there were sets.
extension StatusSet: Codable {
    public init(from decoder: any Decoder) throws {
        var bounds = try decoder.unkeyedContainer()
        var ranges: [ClosedRange<Int>] = []
        while !bounds.isAtEnd {
            let (first, last) = (try bounds.decode(Int.self), try bounds.decode(Int.self))
            guard first <= last else {
                throw DecodingError.dataCorruptedError(in: bounds, debugDescription: "\(first) is after \(last)")
            }
            ranges.append(first...last)
        }
        guard let set = StatusSet(ranges) else {
            throw DecodingError.dataCorruptedError(in: bounds, debugDescription: "no status")
        }
        self = set
    }

    public func encode(to encoder: any Encoder) throws {
        var bounds = encoder.unkeyedContainer()
        for range in ranges {
            try bounds.encode(range.lowerBound)
            try bounds.encode(range.upperBound)
        }
    }
}
