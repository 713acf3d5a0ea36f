/// Arithmetic for numbers from outside: a result that does not fit becomes the nearest number that does.
///
/// Swift's own operators trap, and a trap ends the daemon. Use these wherever a server, a client, a file, a
/// certificate, a clock, the configuration or the database chooses an operand.
extension FixedWidthInteger {
    @inlinable
    public func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    @inlinable
    public func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }

    @inlinable
    public func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        guard overflow else { return product }
        return (self < 0) == (other < 0) ? .max : .min
    }

    /// The number without its fraction, or the nearest integer that fits; 0 for NaN.
    @inlinable
    public init(saturating value: Double) {
        self = Self(exactly: value.rounded(.towardZero)) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
    }
}

extension Sequence where Element: FixedWidthInteger {
    /// The sum of all elements, saturated at each step.
    @inlinable
    public var saturatedSum: Element { reduce(0) { $0.addingSaturated($1) } }
}

/// Lengths and offsets in bytes, as servers and clients state them.
public enum ByteCount {
    /// The greatest length or offset that is accepted, 2^60: 65,536 times the largest file of ext4 (16 TiB). The sum of
    /// seven such numbers still fits into `Int64`.
    public static let greatest: Int64 = 1 << 60
}

/// Times of files (stat(3type)).
public enum FileTime {
    /// Nanoseconds since 1970. Outside the years 1678 to 2261 the number wraps around. It is compared for equality
    /// only, and two different times stay different when wrapped, but not when saturated.
    public static func nanoseconds(seconds: Int, nanoseconds: Int) -> Int64 {
        Int64(truncatingIfNeeded: seconds &* 1_000_000_000 &+ nanoseconds)
    }
}

/// Numbers of digits only, as in HTTP's lengths: no sign, no white space, and at most `ByteCount.greatest`, so that
/// sums of parsed numbers cannot overflow.
public enum Decimal64 {
    public static func parse(_ text: String) -> Int64? { parse(text[...]) }

    // Not generic, and byte by byte: every head of a response has such numbers.
    public static func parse(_ text: Substring) -> Int64? {
        var number: Int64?
        for byte in text.utf8 {
            guard (48...57).contains(byte) else { return nil }
            let (tens, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
            guard !isTooLarge else { return nil }
            let (value, isBeyond) = tens.addingReportingOverflow(Int64(clamping: byte - 48))
            guard !isBeyond, value <= ByteCount.greatest else { return nil }
            number = value
        }
        return number
    }
}
