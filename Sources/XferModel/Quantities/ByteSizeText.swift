/// Sizes as people write them: `4096`, `64K`, `256Mi`, `1G`.
///
/// `K`, `M`, `G`, `T` are powers of 1000 and `Ki`, `Mi`, `Gi`, `Ti` powers of 1024 (IEC 80000-13); case matters, a
/// space or a fraction is not taken.
public enum ByteSizeText {
    /// The accepted form, for error messages.
    public static let expected = "a size in bytes such as 4096, 64K, 256Mi or 1G"

    private static let units: [(suffix: String, factor: Int64)] = [
        ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10),
        ("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("K", 1000),
    ]

    /// The number of bytes, nil when the text is not a size or does not fit 63 bits.
    public static func parse(_ text: some StringProtocol) -> Int64? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        guard let count = wholeNumber(text.dropLast(unit?.suffix.count ?? 0)) else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.factor ?? 1)
        return overflow ? nil : bytes
    }

    /// The shortest text that `parse` reads back to the same number: `268435456` is `256Mi`, `1000` is `1K`.
    public static func format(_ bytes: Int64) -> String {
        guard bytes > 0, let unit = units.first(where: { bytes.isMultiple(of: $0.factor) }) else { return "\(bytes)" }
        return "\(bytes / unit.factor)\(unit.suffix)"
    }
}

/// Durations as people write them: `90`, `500ms`, `15m`, `24h`, `30d`, `2w`. A bare number is in seconds.
public enum DurationText {
    /// The accepted form, for error messages.
    public static let expected = "a duration such as 90 (seconds), 500ms, 15m, 24h or 30d"

    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("ms", 1), ("s", 1000),
    ]

    /// The duration, nil when the text is not one or is longer than 2^63 milliseconds.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        let unit = suffix.isEmpty ? 1000 : units.first { $0.suffix == suffix }?.milliseconds
        guard let unit, let count = wholeNumber(digits) else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    /// Text that `parse` reads back to the same duration, fractions of a millisecond dropped: seconds when whole.
    public static func format(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMicroseconds / 1000
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(milliseconds)ms"
    }
}

/// ASCII digits only: `Int64.init` would take a sign as well.
private func wholeNumber(_ digits: some StringProtocol) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(digits, radix: 10)
}
