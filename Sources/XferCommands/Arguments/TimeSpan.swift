import ArgumentParser
import XferModel

/// A span of time as people write it: `30` or `30s` (seconds), `500ms`, `5m` or `5min`, `2h`, `1d`, or a sum such as
/// `1h30m`.
struct TimeSpan: Hashable, Sendable {
    let seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    init?(parsing text: String) {
        var rest = Substring(text)
        guard !rest.isEmpty else { return nil }
        var sum = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let number = DecimalNumber(digits) else { return nil }
            let afterNumber = rest[digits.endIndex...]
            let unit = afterNumber.prefix { $0.isLetter }
            guard let factor = Self.factor(unit, isAlone: digits.count == text.count) else { return nil }
            sum += number.value * factor
            rest = afterNumber[unit.endIndex...]
        }
        // 1000 years of 365.25 days. A longer span is a typing error.
        guard sum <= 31_557_600_000 else { return nil }
        seconds = sum
    }

    /// The span in whole seconds, rounded up, so that a short span does not become zero.
    var wholeSeconds: Int64 { Int64(saturating: seconds.rounded(.up)) }

    private static func factor(_ unit: Substring, isAlone: Bool) -> Double? {
        switch unit {
        case "": isAlone ? 1 : nil
        case "ms": 0.001
        case "s": 1
        case "m", "min": 60
        case "h": 3600
        case "d": 86_400
        default: nil
        }
    }
}

extension TimeSpan: ExpressibleByArgument {
    init?(argument: String) { self.init(parsing: argument) }
}
