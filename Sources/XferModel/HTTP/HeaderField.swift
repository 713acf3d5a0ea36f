/// One header field (RFC 9110 §5); names compare without case.
public struct HeaderField: Hashable, Sendable, Codable {
    public let name: String
    public let value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension Sequence<HeaderField> {
    /// The value of the first field with this name, compared without case.
    @inlinable public func firstValue(named name: String) -> String? {
        first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }
}

extension StringProtocol {
    /// Whether two strings are equal when ASCII letters' case is ignored, as HTTP compares names.
    public func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension String {
    /// As above, without the cost of generics: every header line of every response is compared so.
    public func equalsIgnoringASCIICase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        guard left.count == right.count else { return false }
        let isEqual = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
        return (isEqual ?? nil) ?? zip(left, right).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
