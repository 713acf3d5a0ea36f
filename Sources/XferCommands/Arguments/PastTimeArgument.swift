import ArgumentParser
import XferModel

/// A point in the past as people write it: `yesterday`, `today`, either with a time of day, `2h` (before now), `08:00`
/// (the last one), a date, or RFC 3339.
struct PastTimeArgument: Hashable, Sendable {
    let time: Timestamp

    /// Reads the text; nil if it has none of these forms.
    init?(_ text: String, now: Timestamp, zone: LocalZone = .machine) {
        func midnight(_ moment: Timestamp) -> Timestamp? {
            zone.civil(moment).flatMap { zone.timestamp($0.at([0, 0, 0])) }
        }
        func dayBefore(_ moment: Timestamp) -> Timestamp? {
            midnight(moment).map { $0.advanced(by: .seconds(-3600)) }
        }
        func clock(_ text: String) -> Timestamp? {
            guard let next = TimeArgument(text, now: now, zone: zone)?.time else { return nil }
            // Of a time of day alone that is the next one.
            guard next > now, !text.contains("-"), text.contains(":") else { return next }
            return zone.civil(next.advanced(by: .seconds(-86_400))).flatMap(zone.timestamp)
        }
        let text = text.lowercased()
        let found: Timestamp? =
            switch text {
            case "now": now
            case "today": midnight(now)
            case "yesterday": dayBefore(now).flatMap(midnight)
            case _ where text.hasPrefix("today "): TimeArgument(text, now: now, zone: zone)?.time
            case _ where text.hasPrefix("yesterday "):
                dayBefore(now).flatMap { TimeArgument("today" + text.dropFirst(9), now: $0, zone: zone)?.time }
            case _ where text.hasPrefix("tomorrow"): nil
            default:
                if let span = Self.span(text) {
                    now.advanced(by: .seconds(-span))
                } else if text.utf8.count == 10, text.contains("-") {
                    clock("\(text) 00:00")
                } else {
                    // The letters of RFC 3339 are capitals here.
                    clock(text.uppercased())
                }
            }
        guard let found else { return nil }
        time = found
    }

    /// Seconds of `2h`, `-2h` and `2h ago`.
    private static func span(_ text: String) -> Int64? {
        var span = text[...]
        if span.hasPrefix("-") { span = span.dropFirst() }
        if span.hasSuffix(" ago") { span = span.dropLast(4) }
        guard span.first?.isNumber == true, span.last?.isLetter == true else { return nil }
        return TimeSpan(parsing: String(span))?.wholeSeconds
    }

    /// Reads an option's value; the refusal lists the accepted values.
    static func argument(_ text: String) throws -> PastTimeArgument {
        guard let argument = PastTimeArgument(text, now: .now) else {
            throw ValidationError(
                "expected a time such as yesterday 22:00, 2h (ago), 08:00, 2027-01-01 or 2027-01-01 10:00")
        }
        return argument
    }
}
