import XferModel

/// A `Content-Range` field (RFC 9110 §14.4) of unit `bytes`.
public enum ContentRange: Hashable, Sendable {
    /// `bytes first-last/complete`; `complete` is nil for `*`. Holds last ≥ first and complete > last.
    case satisfied(first: Int64, last: Int64, complete: Int64?)
    /// `bytes */complete`.
    case unsatisfied(complete: Int64)

    /// Nil for another unit, other syntax, numbers that contradict each other, or one beyond `ByteCount.greatest`.
    public init?(parsing text: String) {
        guard let space = text.firstIndex(of: " "), text[..<space].lowercased() == "bytes" else { return nil }
        let rest = text[text.index(after: space)...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let range = rest[..<slash]
        let completeText = rest[rest.index(after: slash)...]
        let complete = Decimal64.parse(completeText)
        if range == "*" {
            guard let complete else { return nil }
            self = .unsatisfied(complete: complete)
            return
        }
        guard complete != nil || completeText == "*", let dash = range.firstIndex(of: "-"),
            let first = Decimal64.parse(range[..<dash]),
            let last = Decimal64.parse(range[range.index(after: dash)...]), last >= first
        else { return nil }
        if let complete, complete <= last { return nil }
        self = .satisfied(first: first, last: last, complete: complete)
    }
}
