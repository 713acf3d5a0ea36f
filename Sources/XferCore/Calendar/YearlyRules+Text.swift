/// Reads POSIX's `TZ` in the form at the end of a zone's file, RFC 8536's extensions included.
extension YearlyRules {
    /// Parses the text. Returns nil when it does not have that form.
    init?(_ text: some Sequence<UInt8>) {
        var reader = Reader(rest: Array(text)[...])
        guard reader.name(), let standard = reader.time(maxHours: 24) else { return nil }
        self.standard = -standard
        guard !reader.rest.isEmpty else { return }
        guard reader.name() else { return nil }
        var offset = self.standard + 3600
        if reader.rest.first != UInt8(ascii: ",") {
            guard let given = reader.time(maxHours: 24) else { return nil }
            offset = -given
        }
        // POSIX leaves missing dates to the implementation; no zone file omits them.
        guard let start = reader.day(), let end = reader.day(), reader.rest.isEmpty else { return nil }
        summer = Summer(offset: offset, start: start, end: end)
    }
}

private struct Reader {
    var rest: ArraySlice<UInt8>

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Three or more letters, or any characters except control characters in angle brackets.
    mutating func name() -> Bool {
        if skip("<") {
            let name = rest.prefix { $0 != UInt8(ascii: ">") && $0 > 32 && $0 < 127 }
            rest = rest.dropFirst(name.count)
            return skip(">") && name.count >= 3
        }
        let name = rest.prefix { ($0 | 32) >= UInt8(ascii: "a") && ($0 | 32) <= UInt8(ascii: "z") }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
        let digits = rest.prefix { $0 >= 48 && $0 <= 57 }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int64(clamping: $1 - 48) }
        return range.contains(value) ? value : nil
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time(maxHours: Int64) -> Int64? {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        guard let hours = number(0...maxHours) else { return nil }
        var seconds = hours * 3600
        if skip(":") {
            guard let minutes = number(0...59) else { return nil }
            seconds += minutes * 60
            if skip(":") {
                guard let more = number(0...59) else { return nil }
                seconds += more
            }
        }
        return isNegative ? -seconds : seconds
    }

    /// Parses `,date[/time]`.
    mutating func day() -> YearlyRules.Day? {
        guard skip(","), let form = form() else { return nil }
        guard skip("/") else { return YearlyRules.Day(form: form) }
        guard let time = time(maxHours: 167) else { return nil }
        return YearlyRules.Day(form: form, time: time)
    }

    private mutating func form() -> YearlyRules.Day.Form? {
        if skip("J") { return number(1...365).map { .julian($0) } }
        guard skip("M") else { return number(0...365).map { .ordinal($0) } }
        guard let month = number(1...12), skip("."), let week = number(1...5), skip("."), let weekday = number(0...6)
        else { return nil }
        return .weekday(month: month, week: week, weekday: weekday)
    }
}
