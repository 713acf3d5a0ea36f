/// One header field (RFC 9110 §5).
///
/// Names are case-insensitive in HTTP, but `==` and hashing compare them exactly. Use `firstValue(named:)` for
/// look-ups.
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
    /// True if two strings are equal when ASCII letters' case is ignored, as HTTP compares names.
    public func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension String {
    /// Compares like the variant for `StringProtocol`, without the cost of generics, because every header line of every
    /// response is compared.
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

/// A change to the header fields of requests to some hosts. Class of origin: SDWebImage's headers filter.
public struct HeaderRule: Hashable, Sendable, Codable {
    /// Hosts that the rule applies to; empty is every host.
    public var hosts: [HostPattern]
    /// Fields that replace those with the same names.
    public var set: [HeaderField]
    /// Names of fields that are not sent.
    public var remove: [String]

    public init(hosts: [HostPattern] = [], set: [HeaderField] = [], remove: [String] = []) {
        self.hosts = hosts
        self.set = set
        self.remove = remove
    }
}

/// A content coding that this service can undo (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// - Parameter name: as in a header field; case is ignored.
    public init?(name: String) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}
