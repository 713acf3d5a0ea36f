import XferModel

/// The date of a cookie's `Expires`, read as leniently as RFC 6265 §5.1.1 demands: its parts are recognised by their
/// form, in almost any order.
enum CookieDate {
    /// Seconds since 1970; nil if the text is not a date.
    static func parse(_ text: String) -> Int64? {
        var time: (hour: Int64, minute: Int64, second: Int64)?
        var (day, month, year): (Int64?, Int64?, Int64?) = (nil, nil, nil)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = timeOfDay(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard year >= 1601, (1...CivilDate.days(inMonth: month, of: year)).contains(day), time.hour <= 23,
            time.minute <= 59, time.second <= 59
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
        return days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second
    }

    /// The delimiters: all but letters, digits, `:` and bytes outside ASCII.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }

    /// Three fields of one or two digits between colons. Text after them is ignored, unless it is a digit.
    private static func timeOfDay(_ token: Substring.UTF8View) -> (hour: Int64, minute: Int64, second: Int64)? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let hour = number(fields[0], digits: 1...2, isWhole: true),
            let minute = number(fields[1], digits: 1...2, isWhole: true),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The number at the beginning of the token, if its number of digits is in the range. Text after them is ignored
    /// unless `isWhole`.
    private static func number(
        _ token: Substring.UTF8View, digits: ClosedRange<Int>, isWhole: Bool = false
    ) -> Int64? {
        let start = token.prefix { (48...57).contains($0) }
        guard digits.contains(start.count), !isWhole || start.count == token.count else { return nil }
        return Int64(Substring(start), radix: 10)
    }

    private static func monthNumber(_ token: Substring.UTF8View) -> Int64? {
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        guard token.count >= 3 else { return nil }
        let start = token.prefix(3).map { $0 | 0x20 }
        return months.firstIndex { $0.utf8.elementsEqual(start) }.map { Int64(clamping: $0 + 1) }
    }
}
