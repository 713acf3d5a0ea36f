/// Sizes and rates in the form that people write: `4096`, `64K`, `1.5M`, `2MB`, `256Mi`, `5 MiB/s`.
///
/// `K`, `M`, `G`, `T` are powers of 1000 and `Ki`, `Mi`, `Gi`, `Ti` powers of 1024 (IEC 80000-13). Case does not
/// matter. A `B`, `/s` or `B/s` after the unit, and a space before it, are ignored.
public enum ByteSizeText {
    /// The accepted form, for error messages.
    public static let expected = "a size in bytes such as 4096, 64K, 1.5MB, 256Mi or 1 GiB"

    private static let units: [(suffix: String, factor: Int64)] = [
        ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10),
        ("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("K", 1000),
    ]

    /// The number of bytes, fractions of a byte dropped; nil when the text is not a size or does not fit 63 bits.
    public static func parse(_ text: some StringProtocol) -> Int64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = DecimalNumber(digits), let factor = factor(text[digits.endIndex...]) else { return nil }
        return number.times(factor)
    }

    private static func factor(_ unit: some StringProtocol) -> Int64? {
        var name = unit.lowercased()
        if name.count > 1, name.hasPrefix(" ") { name.removeFirst() }
        if name.hasSuffix("/s") { name.removeLast(2) }
        if name.hasSuffix("b") { name.removeLast() }
        return name.isEmpty ? 1 : units.first { $0.suffix.lowercased() == name }?.factor
    }

    /// The shortest text that `parse` reads back to the same number: `268435456` is `256Mi`, `1000` is `1K`.
    public static func format(_ bytes: Int64) -> String {
        guard bytes > 0, let unit = units.first(where: { bytes.isMultiple(of: $0.factor) }) else { return "\(bytes)" }
        return "\(bytes / unit.factor)\(unit.suffix)"
    }
}

/// Durations in the form that people write: `90`, `0.5`, `500ms`, `15m`, `24h`, `30d`, `2w`, or a sum such as `1h30m`.
/// A bare number is in seconds.
public enum DurationText {
    /// The accepted form, for error messages.
    public static let expected = "a duration such as 90 (seconds), 500ms, 15m, 1h30m, 24h or 30d"

    /// The longest duration: 1000 years of 365.25 days, in microseconds.
    private static let longest: Int64 = 31_557_600_000_000_000

    private static func microseconds(in unit: some StringProtocol) -> Int64? {
        switch unit {
        case "ms": 1000
        case "s": 1_000_000
        case "m", "min": 60_000_000
        case "h": 3_600_000_000
        case "d": 86_400_000_000
        case "w": 604_800_000_000
        default: nil
        }
    }

    /// The duration, without fractions of a microsecond. Nil when the text is no duration, when the duration is longer
    /// than 1000 years, or when it is shorter than a microsecond.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        var rest = text[...]
        var sum: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let unit = rest[digits.endIndex...].prefix { $0.isASCII && $0.isLetter }
            let isAlone = unit.isEmpty && digits.endIndex == text.endIndex && digits.startIndex == text.startIndex
            guard let number = DecimalNumber(digits), let factor = isAlone ? 1_000_000 : microseconds(in: unit),
                let part = number.times(factor), part > 0 || number.isZero
            else { return nil }
            sum = sum.addingSaturated(part)
            rest = rest[unit.endIndex...]
        }
        guard !text.isEmpty, sum <= longest else { return nil }
        return .microseconds(sum)
    }

    /// Writes text that `parse` reads back to the same duration, fractions of a millisecond dropped: seconds when
    /// whole.
    public static func format(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMicroseconds / 1000
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(milliseconds)ms"
    }
}

/// A non-negative decimal number without sign and exponent, exact: `1`, `1.5`, `.25`.
struct DecimalNumber: Hashable, Sendable {
    private let digits: Int64
    /// The factor of the decimals: ten to the power of their number.
    private let scale: Int64

    /// Parses a decimal number. Returns nil unless it has at least one digit and at most nine decimals.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.joined().utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        let decimals = parts.count == 2 ? parts[1].utf8.count : 0
        guard decimals <= 9, let digits = Int64(parts.joined(), radix: 10) else { return nil }
        self.digits = digits
        scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
    }

    var isZero: Bool { digits == 0 }

    /// The product rounded down, nil when it does not fit.
    func times(_ factor: Int64) -> Int64? {
        let (high, low) = digits.multipliedFullWidth(by: factor)
        // Otherwise the quotient has more than 63 bits, and the division would trap.
        guard high < scale else { return nil }
        return Int64(exactly: UInt64(clamping: scale).dividingFullWidth((UInt64(clamping: high), low)).quotient)
    }
}
