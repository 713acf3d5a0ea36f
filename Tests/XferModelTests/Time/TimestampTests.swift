import Testing
import XferModel

/// Times that no clock shows: certificates, zone files and damaged rows hold them.
@Suite struct TimestampTests {
    @Test(arguments: [
        (Int64.min, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_000_001, "0000-01-01T00:00:00.000Z"),
        (-62_167_219_200_000_000, "0000-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (0, "1970-01-01T00:00:00.000Z"), (253_402_300_799_999_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000_000, "9999-12-31T23:59:59.999Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
    ]) func everyTimeIsWrittenAsTheNearestThatRFC3339CanWrite(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).description == text)
        #expect(Timestamp(rfc3339: text)?.description == text)
    }

    @Test func timesBeyondTheRangeOfMicrosecondsAreTheFirstOrTheLast() {
        #expect(Timestamp(seconds: .max).rawValue == .max)
        #expect(Timestamp(seconds: .min).rawValue == .min)
        let (first, last) = (Timestamp(rawValue: .min), Timestamp(rawValue: .max))
        #expect(last.advanced(by: .seconds(1)) == last && first.advanced(by: .seconds(-1)) == first)
        #expect(last.advanced(by: .seconds(Int64.max)) == last)
        #expect(first.duration(to: last) == .microseconds(Int64.max))
        #expect(last.duration(to: first) == .microseconds(Int64.min))
    }

    @Test func instantsBeyondTheRangeOfNanosecondsAreTheFirstOrTheLast() {
        let (first, last) = (MonotonicInstant(nanoseconds: .min), MonotonicInstant(nanoseconds: .max))
        #expect(last.advanced(by: .seconds(1)) == last && first.advanced(by: .seconds(-1)) == first)
        #expect(MonotonicInstant(nanoseconds: 0).advanced(by: .seconds(Int64.max)) == last)
        #expect(first.duration(to: last) == .nanoseconds(Int64.max))
        #expect(last.duration(to: first) == .nanoseconds(Int64.min))
    }

    @Test(arguments: [.min, .min + 719_468, -719_468, 0, .max - 719_468, .max] as [Int64])
    func everyDayHasADateWithoutOverflow(day: Int64) {
        let date = CivilDate(daysSinceEpoch: day)
        #expect((1...12).contains(date.month) && (1...31).contains(date.day))
    }

    @Test(arguments: [Int64.min, .max]) func everyYearHasDaysWithoutOverflow(year: Int64) {
        let days = CivilDate(year: year, month: 1, day: 1).daysSinceEpoch
        #expect(days.signum() == year.signum())
    }
}
