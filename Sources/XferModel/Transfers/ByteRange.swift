/// A range of octets asked for or received (RFC 9110 §14.1.2): `first` … `last`, both inclusive, or open-ended.
public struct ByteRange: Hashable, Sendable, CustomStringConvertible {
    public var first: Int64
    /// Last octet, inclusive; nil runs to the end.
    public var last: Int64?

    public init(first: Int64, last: Int64? = nil) {
        self.first = first
        self.last = last
    }

    /// The range as `CURLOPT_RANGE` takes it: `N-` or `N-M`.
    public var description: String { "\(first)-\(last.map(String.init) ?? "")" }
}
