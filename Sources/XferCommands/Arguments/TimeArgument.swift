import ArgumentParser
import Glibc
import XferModel

/// A point in time as people write it: `22:00` (the next), `tomorrow 08:00`, `2027-01-01 10:00` in the machine's zone,
/// `+2h` or `2h` from now, or RFC 3339.
struct TimeArgument {
    let time: Timestamp

    /// Parses a time. Returns nil if the text is none of these.
    init?(_ text: String, now: Timestamp, zone: LocalZone = .machine) {
        guard let time = Self.span(text, now) ?? Timestamp(rfc3339: text) ?? Self.local(text, now, zone) else {
            return nil
        }
        self.time = time
    }

    /// Reads an option's value; the refusal lists the accepted values.
    static func argument(_ text: String) throws -> TimeArgument {
        guard let argument = TimeArgument(text, now: .now) else {
            throw ValidationError(
                "expected a time such as 22:00, tomorrow 08:00, 2027-01-01 10:00, +2h or 2027-01-01T10:00:00Z")
        }
        return argument
    }

    /// `+2h`, `+90`, `2h`. A number alone could also be an hour.
    private static func span(_ text: String, _ now: Timestamp) -> Timestamp? {
        let hasSign = text.hasPrefix("+")
        guard hasSign || text.last?.isLetter == true else { return nil }
        return TimeSpan(parsing: String(hasSign ? text.dropFirst() : text[...])).map {
            now.advanced(by: .seconds($0.wholeSeconds))
        }
    }

    private static func local(_ text: String, _ now: Timestamp, _ zone: LocalZone) -> Timestamp? {
        let words = words(of: text)
        guard let first = words.first, words.count <= 2, let today = zone.civil(now) else { return nil }
        if words.count == 1, let clock = clock(first) {
            guard let next = zone.timestamp(today.at(clock)) else { return nil }
            return next > now ? next : zone.next(today).flatMap { zone.timestamp($0.at(clock)) }
        }
        guard let clock = words.count == 2 ? clock(words[1]) : [0, 0, 0] else { return nil }
        switch first.lowercased() {
        case "today" where words.count == 2: return zone.timestamp(today.at(clock))
        case "tomorrow" where words.count == 2: return zone.next(today).flatMap { zone.timestamp($0.at(clock)) }
        default:
            let parts = numbers(first, separator: "-")
            guard parts.count == 3, first.utf8.count == 10 else { return nil }
            return zone.timestamp(CivilTime(year: parts[0], month: parts[1], day: parts[2]).at(clock))
        }
    }

    /// Splits the text into words. The date of ISO 8601 may be followed by a T in place of a space.
    private static func words(of text: String) -> [Substring] {
        let date = text.prefix(10)
        guard text.utf8.count > 10, numbers(date, separator: "-").count == 3, text[date.endIndex] == "T" else {
            return text.split(separator: " ", omittingEmptySubsequences: false)
        }
        return [date, text[text.index(after: date.endIndex)...]]
    }

    /// Hours, minutes and seconds of `8:00` or `08:00:30`.
    private static func clock(_ text: Substring) -> [Int32]? {
        let parts = numbers(text, separator: ":")
        guard (2...3).contains(parts.count), parts[0] < 24, parts.dropFirst().allSatisfy({ $0 < 60 }) else {
            return nil
        }
        return parts.count == 3 ? parts : parts + [0]
    }

    /// Numbers of one to four digits; an empty array if a part is not a number.
    private static func numbers(_ text: Substring, separator: Character) -> [Int32] {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ (1...4).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return [] }
        return parts.compactMap { Int32($0, radix: 10) }
    }
}

/// A date and a time of day in local time.
struct CivilTime: Hashable, Sendable {
    var year: Int32
    /// The month, 1 … 12.
    var month: Int32
    var day: Int32
    var hour: Int32 = 0
    var minute: Int32 = 0
    var second: Int32 = 0

    /// The same day at a time of hours, minutes and seconds.
    func at(_ clock: [Int32]) -> CivilTime {
        CivilTime(year: year, month: month, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    }
}

/// A time zone by the C library's rules.
struct LocalZone: Sendable {
    /// Converts a civil time; nil if the date does not exist.
    let timestamp: @Sendable (CivilTime) -> Timestamp?
    /// Converts a timestamp; nil for times that the C library cannot express.
    let civil: @Sendable (Timestamp) -> CivilTime?

    /// The zone of TZ, otherwise of the machine (tzset(3)).
    static var machine: LocalZone {
        LocalZone(
            timestamp: { civil in
                var parts = tm()
                (parts.tm_year, parts.tm_mon, parts.tm_mday) = (civil.year - 1900, civil.month - 1, civil.day)
                (parts.tm_hour, parts.tm_min, parts.tm_sec) = (civil.hour, civil.minute, civil.second)
                parts.tm_isdst = -1
                let seconds = mktime(&parts)
                // mktime(3) makes March 2nd of February 30th.
                guard parts.tm_mday == civil.day, parts.tm_mon == civil.month - 1, seconds != -1 else { return nil }
                return Timestamp(seconds: Int64(clamping: seconds))
            },
            civil: { timestamp in
                var seconds = time_t(clamping: timestamp.rawValue / 1_000_000)
                var parts = tm()
                guard localtime_r(&seconds, &parts) != nil else { return nil }
                return CivilTime(
                    year: parts.tm_year + 1900, month: parts.tm_mon + 1, day: parts.tm_mday, hour: parts.tm_hour,
                    minute: parts.tm_min, second: parts.tm_sec)
            })
    }

    /// The day after. From noon to noon, since a day can last 23 or 25 hours.
    func next(_ day: CivilTime) -> CivilTime? {
        timestamp(day.at([12, 0, 0])).flatMap { civil($0.advanced(by: .seconds(86_400))) }
    }
}
