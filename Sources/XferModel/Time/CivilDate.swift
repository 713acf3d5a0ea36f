/// A day of the proleptic Gregorian calendar.
///
/// The arithmetic counts from 1 March so that the leap day is a year's last (Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms").
public struct CivilDate: Hashable, Sendable {
    public let year: Int64
    public let month: Int64
    public let day: Int64

    public init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The bound beyond which dates are not distinguished, in days.
    private static let maxDays: Int64 = 1 << 50
    private static let maxYears: Int64 = 1 << 40

    /// The day that many days after 1970-01-01.
    public init(daysSinceEpoch: Int64) {
        let shifted = min(max(daysSinceEpoch, -Self.maxDays), Self.maxDays) + 719_468
        let era = shifted.flooringQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    public var daysSinceEpoch: Int64 {
        let year = min(max(year, -Self.maxYears), Self.maxYears)
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooringQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    public static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
