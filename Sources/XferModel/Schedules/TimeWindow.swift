/// Times of day, on some days of the week, in a time zone, within which a task may run.
///
/// Wall-clock times decide. If the change to summer time skips the beginning of a window, it opens at the end of the
/// skipped hour. Times that are repeated are in the window twice.
public struct TimeWindow: Hashable, Sendable, Codable {
    /// The times of day of the window; empty is the whole day.
    public var times: [DailyTimes]
    /// The days on which `times` begin; none is every day.
    public var days: [Weekday]
    /// A name from the time zone database such as `Europe/Berlin`; nil is the machine's own zone.
    public var zone: String?

    public init(times: [DailyTimes] = [], days: [Weekday] = [], zone: String? = nil) {
        self.times = times
        self.days = days
        self.zone = zone
    }
}

/// A range of times of day such as `22:00-06:00`. The end is excluded, and is on the next day if it is not later than
/// the start.
public struct DailyTimes: Hashable, Sendable, Codable, CustomStringConvertible {
    public var start: TimeOfDay
    /// The end, never equal to `start`; `24:00` is the end of the day.
    public var end: TimeOfDay

    public static let wholeDay = DailyTimes(unchecked: .midnight, .endOfDay)

    private init(unchecked start: TimeOfDay, _ end: TimeOfDay) {
        self.start = start
        self.end = end
    }

    /// Creates the window. Returns nil when the times are equal, or it begins at 24:00.
    public init?(_ start: TimeOfDay, _ end: TimeOfDay) {
        guard start != end, start != .endOfDay else { return nil }
        self.start = start
        self.end = end
    }

    /// Reads `HH:MM-HH:MM`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = TimeOfDay(parts[0]), let end = TimeOfDay(parts[1]) else { return nil }
        self.init(start, end)
    }

    /// Reads a window as people write it: hours may have one digit, as in `9:00-17:00`.
    public init?(typed text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = TimeOfDay(typed: parts[0]), let end = TimeOfDay(typed: parts[1]) else {
            return nil
        }
        self.init(start, end)
    }

    /// True if they end on the day after the one on which they begin.
    public var crossesMidnight: Bool { end < start }
    public var description: String { "\(start)-\(end)" }
}

/// Minutes since midnight as a clock on the wall shows them, 0 … 1440.
public struct TimeOfDay: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let minutes: Int

    /// Creates the time of day. Returns nil beyond a day.
    public init?(minutes: Int) {
        guard (0...1440).contains(minutes) else { return nil }
        self.minutes = minutes
    }

    /// Reads `HH:MM`, 00:00 … 24:00.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
        let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int(clamping: $0) - 48 }
        guard digits.allSatisfy((0...9).contains), digits[2] < 6 else { return nil }
        self.init(minutes: (digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3])
    }

    /// Reads a time as people write it: the hour may have one digit, as in `8:00`.
    public init?(typed text: some StringProtocol) {
        self.init(text.utf8.count == 4 ? "0\(text)" : String(text))
    }

    public static let midnight = TimeOfDay(unchecked: 0)
    public static let endOfDay = TimeOfDay(unchecked: 1440)

    private init(unchecked minutes: Int) { self.minutes = minutes }

    public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.minutes < right.minutes }

    public var description: String {
        func pad(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(pad(minutes / 60)):\(pad(minutes % 60))"
    }
}

/// A day of the week, in the order of ISO 8601.
public enum Weekday: String, Sendable, Codable, CaseIterable, Hashable {
    case monday = "mon"
    case tuesday = "tue"
    case wednesday = "wed"
    case thursday = "thu"
    case friday = "fri"
    case saturday = "sat"
    case sunday = "sun"

    /// The weekday of the day that many days after 1970-01-01, a Thursday.
    public init(daysSinceEpoch: Int64) {
        let index = (daysSinceEpoch % 7 + 10) % 7
        self = Self.allCases[Int(clamping: index)]
    }
}
