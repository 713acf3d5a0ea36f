/// A point on the wall clock: microseconds since 1970-01-01T00:00:00Z, shown as RFC 3339 in UTC.
public struct Timestamp: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(microseconds: Int64) { rawValue = microseconds }
    public init(seconds: Int64) { rawValue = seconds.multipliedSaturated(by: 1_000_000) }

    /// Creates a time from the result of clock_gettime(2) or stat(2), without fractions of a microsecond.
    public init(seconds: Int, nanoseconds: Int) {
        rawValue = Int64(clamping: seconds).multipliedSaturated(by: 1_000_000).addingSaturated(
            Int64(clamping: nanoseconds) / 1000)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.rawValue < right.rawValue }

    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(rawValue: rawValue.addingSaturated(duration.wholeMicroseconds))
    }

    public func duration(to other: Timestamp) -> Duration {
        .microseconds(other.rawValue.subtractingSaturated(rawValue))
    }

    /// The number of whole seconds since 1970, rounded down.
    public var wholeSecond: Int64 { rawValue.flooringQuotient(by: 1_000_000) }

    /// The nearest time whose year has four digits, as RFC 3339 and HTTP require: years 0000 to 9999.
    public var writable: Timestamp {
        Timestamp(rawValue: min(max(rawValue, -62_167_219_200_000_000), 253_402_300_799_999_999))
    }

    /// RFC 3339 §5.6 with milliseconds: `2026-01-02T03:04:05.678Z`. Years before 0000 and after 9999 are written as
    /// these.
    public var description: String {
        let rawValue = writable.rawValue
        let second = rawValue.flooringQuotient(by: 1_000_000)
        let day = second.flooringQuotient(by: 86_400)
        let date = CivilDate(daysSinceEpoch: day)
        let secondOfDay = second - day * 86_400
        let milliseconds = (rawValue - second * 1_000_000) / 1000
        // Works on bytes: every answer has timestamps, and joining strings would cost more than the rest of a task's
        // record.
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func add(_ value: Int64, _ width: Int, before separator: Unicode.Scalar) {
            let digits = String(value).utf8
            text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, width - digits.count)))
            text.append(contentsOf: digits)
            text.append(UInt8(ascii: separator))
        }
        add(date.year, 4, before: "-")
        add(date.month, 2, before: "-")
        add(date.day, 2, before: "T")
        add(secondOfDay / 3600, 2, before: ":")
        add(secondOfDay / 60 % 60, 2, before: ":")
        add(secondOfDay % 60, 2, before: ".")
        add(milliseconds, 3, before: "Z")
        return String(decoding: text, as: UTF8.self)
    }
}

extension Timestamp {
    /// Reads RFC 3339 date-time text with any offset; nil when it is not.
    public init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(clamping: byte - 48)
            }
            return value
        }
        func has(_ characters: String, at index: Int) -> Bool {
            index < bytes.count && characters.utf8.contains(bytes[index])
        }
        guard let year = number(0..<4), has("-", at: 4), let month = number(5..<7), has("-", at: 7),
            let day = number(8..<10), has("Tt ", at: 10), let hour = number(11..<13), has(":", at: 13),
            let minute = number(14..<16), has(":", at: 16), let second = number(17..<19),
            (1...12).contains(month), (1...CivilDate.days(inMonth: month, of: year)).contains(day), hour < 24,
            minute < 60,
            second < 61
        else { return nil }
        var index = 19
        var microseconds: Int64 = 0
        if has(".", at: index) {
            index += 1
            let start = index
            var scale: Int64 = 100_000
            while let digit = number(index..<index + 1) {
                microseconds += digit * scale
                scale /= 10
                index += 1
            }
            guard index > start else { return nil }
        }
        var offset: Int64 = 0
        if has("Zz", at: index) {
            index += 1
        } else {
            guard has("+-", at: index), let hours = number(index + 1..<index + 3), has(":", at: index + 3),
                let minutes = number(index + 4..<index + 6), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (has("-", at: index) ? -60 : 60)
            index += 6
        }
        guard index == bytes.count else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(microseconds: seconds * 1_000_000 + microseconds)
    }
}

extension Duration {
    /// Microseconds, without fractions; durations beyond the range are clamped.
    public var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow
            ? (seconds < 0 ? .min : .max) : product.addingSaturated(attoseconds / 1_000_000_000_000)
    }

    /// The duration in seconds.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension Int64 {
    /// Returns the quotient rounded towards minus infinity, as the calendar needs it before 1970.
    public func flooringQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// A point on a clock that is never set and counts while the machine sleeps (CLOCK_BOOTTIME, clock_gettime(2)).
///
/// Pure decisions take one as `now`; their callers, which perform the effects, read the clock.
public struct MonotonicInstant: InstantProtocol, Hashable, Sendable {
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a timestamp from the result of clock_gettime(2).
    public init(seconds: Int, nanoseconds: Int) {
        self.nanoseconds = Int64(clamping: seconds).multipliedSaturated(by: 1_000_000_000).addingSaturated(
            Int64(clamping: nanoseconds))
    }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public func advanced(by duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = duration.components
        let count = seconds.multipliedSaturated(by: 1_000_000_000).addingSaturated(attoseconds / 1_000_000_000)
        return MonotonicInstant(nanoseconds: nanoseconds.addingSaturated(count))
    }

    public func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds.subtractingSaturated(nanoseconds))
    }
}
