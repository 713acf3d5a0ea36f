/// Dates as HTTP writes them (RFC 9110 §5.6.7): IMF-fixdate, and the obsolete forms of RFC 850 and asctime.
public enum HTTPDate {
    /// The instant, or nil when the text is none of the three forms. Two-digit years count within 1970 … 2069.
    public static func parse(_ text: String) -> Timestamp? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," })
        switch words.count {
        case 6 where words[5] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT
            return timestamp(day: words[1], month: words[2], year: words[3], time: words[4])
        case 4 where words[3] == "GMT":  // Sunday, 06-Nov-94 08:49:37 GMT
            let date = words[1].split(separator: "-")
            guard date.count == 3, date[2].count == 2, let short = Decimal64.parse(date[2]) else { return nil }
            return timestamp(
                day: date[0], month: date[1], year: "\(short < 70 ? 2000 + short : 1900 + short)"[...],
                time: words[2])
        case 5:  // Sun Nov  6 08:49:37 1994
            return timestamp(day: words[2], month: words[1], year: words[4], time: words[3])
        default:
            return nil
        }
    }

    /// Writes an IMF-fixdate, for `If-Modified-Since`; fractions of a second are dropped, and years before 0000 and
    /// after 9999 are written as these.
    public static func format(_ time: Timestamp) -> String {
        let second = time.writable.wholeSecond
        let day = second.flooringQuotient(by: 86_400)
        let date = CivilDate(daysSinceEpoch: day)
        let inDay = second - day * 86_400
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let weekday = weekdays[Int(clamping: ((day + 4) % 7 + 7) % 7)]
        let year = String(repeating: "0", count: max(0, 4 - "\(date.year)".count)) + "\(date.year)"
        return "\(weekday), \(two(date.day)) \(months[Int(clamping: date.month - 1)]) \(year) "
            + "\(two(inDay / 3600)):\(two(inDay / 60 % 60)):\(two(inDay % 60)) GMT"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static func timestamp(day: Substring, month: Substring, year: Substring, time: Substring) -> Timestamp? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: String(month)).map({ Int64(clamping: $0 + 1) }), year.count == 4,
            let year = Decimal64.parse(year), let day = Decimal64.parse(day),
            (1...CivilDate.days(inMonth: month, of: year)).contains(day), clock.count == 3,
            clock.allSatisfy({ $0.count == 2 }), let hour = Decimal64.parse(clock[0]), hour < 24,
            let minute = Decimal64.parse(clock[1]), minute < 60, let second = Decimal64.parse(clock[2]), second < 61
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
        return Timestamp(seconds: days * 86_400 + hour * 3600 + minute * 60 + second)
    }
}
