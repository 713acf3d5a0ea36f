import Testing
import XferModel

@testable import XferCore

/// When windows open and close, with clocks that jump.
@Suite struct WindowCalendarTests {
    private func calendar(_ times: [String], _ days: [Weekday] = [], in zone: String) throws -> WindowCalendar {
        let ranges = try times.map { try #require(DailyTimes($0)) }
        return WindowCalendar(TimeWindow(times: ranges, days: days), in: try Zones.zone(zone))
    }

    /// The changes from there on, each with what it changes to.
    private func changes(_ calendar: WindowCalendar, from: String, count: Int) -> [String] {
        var time = at(from)
        var found: [String] = []
        while found.count < count, let next = calendar.nextChange(after: time) {
            #expect(calendar.isOpen(at: next) != calendar.isOpen(at: time))
            found.append("\(calendar.isOpen(at: next) ? "opens" : "closes") \(next.description.prefix(16))")
            time = next
        }
        return found
    }

    @Test func aDailyWindowOverMidnightOpensAndCloses() throws {
        let night = try calendar(["22:00-06:00"], in: "Europe/Berlin")
        #expect(
            changes(night, from: "2026-01-10T12:00:00Z", count: 3) == [
                "opens 2026-01-10T21:00", "closes 2026-01-11T05:00", "opens 2026-01-11T21:00",
            ])
        #expect(night.isOpen(at: at("2026-01-10T21:00:00Z")) && !night.isOpen(at: at("2026-01-10T20:59:59.999999Z")))
        #expect(!night.isOpen(at: at("2026-01-11T05:00:00Z")) && night.isOpen(at: at("2026-01-11T04:59:59.999999Z")))
    }

    /// The day is the one on which the times begin.
    @Test func aFridayNightLastsIntoSaturday() throws {
        let night = try calendar(["22:00-06:00"], [.friday], in: "Etc/UTC")
        #expect(
            changes(night, from: "2026-01-05T00:00:00Z", count: 3) == [
                "opens 2026-01-09T22:00", "closes 2026-01-10T06:00", "opens 2026-01-16T22:00",
            ])
    }

    @Test func severalTimesThatMeetOrOverlapAreOne() throws {
        let day = try calendar(["08:00-12:00", "12:00-13:00", "12:30-14:00", "20:00-24:00"], in: "Etc/UTC")
        #expect(
            changes(day, from: "2026-01-05T00:00:00Z", count: 4) == [
                "opens 2026-01-05T08:00", "closes 2026-01-05T14:00", "opens 2026-01-05T20:00",
                "closes 2026-01-06T00:00",
            ])
    }

    @Test func wholeDaysInARowAreOneWindow() throws {
        let weekend = try calendar([], [.saturday, .sunday], in: "Pacific/Auckland")
        #expect(
            changes(weekend, from: "2026-06-01T00:00:00Z", count: 2) == [
                "opens 2026-06-05T12:00", "closes 2026-06-07T12:00",
            ])
    }

    @Test func aWindowThatIsAlwaysOpenNeverChanges() throws {
        #expect(try calendar(["00:00-24:00"], in: "Europe/Berlin").nextChange(after: at("2026-01-01T00:00:00Z")) == nil)
        let both = try calendar(["06:00-18:00", "18:00-06:00"], in: "Europe/Berlin")
        #expect(both.nextChange(after: at("2026-03-28T00:00:00Z")) == nil)
    }

    // MARK: Summer time begins: 02:00–03:00 of 2026-03-29 is skipped in Berlin

    @Test func anOpeningInASkippedHourIsAtTheGapsEnd() throws {
        let calendar = try calendar(["02:30-05:00"], in: "Europe/Berlin")
        #expect(
            changes(calendar, from: "2026-03-28T12:00:00Z", count: 2) == [
                "opens 2026-03-29T01:00", "closes 2026-03-29T03:00",
            ])
    }

    @Test func aClosingInASkippedHourIsAtTheGapsEnd() throws {
        let calendar = try calendar(["01:00-02:30"], in: "Europe/Berlin")
        #expect(
            changes(calendar, from: "2026-03-28T12:00:00Z", count: 2) == [
                "opens 2026-03-29T00:00", "closes 2026-03-29T01:00",
            ])
    }

    @Test func aWindowWithinASkippedHourDoesNotOpenThatDay() throws {
        let calendar = try calendar(["02:10-02:50"], in: "Europe/Berlin")
        #expect(
            changes(calendar, from: "2026-03-28T00:00:00Z", count: 4) == [
                "opens 2026-03-28T01:10", "closes 2026-03-28T01:50", "opens 2026-03-30T00:10",
                "closes 2026-03-30T00:50",
            ])
    }

    // MARK: Summer time ends: 02:00–03:00 of 2026-10-25 comes twice in Berlin

    @Test func aWindowOverTheRepeatedHourIncludesItTwice() throws {
        let calendar = try calendar(["02:00-03:00"], in: "Europe/Berlin")
        #expect(
            changes(calendar, from: "2026-10-24T12:00:00Z", count: 2) == [
                "opens 2026-10-25T00:00", "closes 2026-10-25T02:00",
            ])
    }

    /// What the clock on the wall shows counts: half of the hour, twice.
    @Test func aWindowOverHalfTheRepeatedHourOpensTwice() throws {
        let calendar = try calendar(["02:00-02:30"], in: "Europe/Berlin")
        #expect(
            changes(calendar, from: "2026-10-24T12:00:00Z", count: 4) == [
                "opens 2026-10-25T00:00", "closes 2026-10-25T00:30", "opens 2026-10-25T01:00",
                "closes 2026-10-25T01:30",
            ])
    }

    @Test func aNightWithARepeatedHourIsAnHourLonger() throws {
        let calendar = try calendar(["22:00-06:00"], in: "Europe/Berlin")
        #expect(
            changes(calendar, from: "2026-10-24T12:00:00Z", count: 2) == [
                "opens 2026-10-24T20:00", "closes 2026-10-25T05:00",
            ])
    }

    // MARK: Elsewhere

    /// Lord Howe moves by half an hour, in October forward at 02:00.
    @Test func halfAnHourIsSkippedAndRepeatedInAHalfHourZone() throws {
        let calendar = try calendar(["02:15-04:00"], in: "Australia/Lord_Howe")
        #expect(changes(calendar, from: "2026-10-03T10:00:00Z", count: 1) == ["opens 2026-10-03T15:30"])
        // In April 01:30–02:00 comes twice.
        let again = try self.calendar(["01:30-02:00"], in: "Australia/Lord_Howe")
        #expect(
            changes(again, from: "2026-04-04T10:00:00Z", count: 2) == [
                "opens 2026-04-04T14:30", "closes 2026-04-04T15:30",
            ])
    }

    /// Samoa went to bed on a Thursday and rose on a Saturday: there was no 2011-12-30.
    @Test func aDayThatAZoneSkippedHasNoWindow() throws {
        let calendar = try calendar(["08:00-09:00"], [.friday], in: "Pacific/Apia")
        #expect(
            changes(calendar, from: "2011-12-26T00:00:00Z", count: 1) == ["opens 2012-01-05T18:00"])
    }

    @Test func theCalendarFollowsSummerTimeCenturiesAhead() throws {
        let calendar = try calendar(["02:30-05:00"], in: "Europe/Berlin")
        // The last Sunday in March 2500 is the 28th.
        #expect(changes(calendar, from: "2500-03-27T12:00:00Z", count: 1) == ["opens 2500-03-28T01:00"])
    }

    /// Against a clock that is read every minute for two weeks around each change.
    @Test(arguments: ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "America/St_Johns"])
    func theCalendarAgreesWithAWatchedClock(zone: String) throws {
        let windows: [([String], [Weekday])] = [
            (["22:00-06:00"], []), (["02:10-02:40", "23:30-00:30"], [.saturday, .sunday]), (["00:00-24:00"], [.sunday]),
            (["01:45-01:46", "02:00-03:00"], []),
        ]
        for (times, days) in windows {
            let calendar = try calendar(times, days, in: zone)
            for month in ["03-20", "04-01", "09-01", "10-01", "10-20"] {
                var time = at("2026-\(month)T00:00:00Z")
                var next = calendar.nextChange(after: time)
                var isOpen = calendar.isOpen(at: time)
                for _ in 0..<14 * 1440 {
                    time = time.advanced(by: .seconds(60))
                    let found = calendar.isOpen(at: time)
                    guard found != isOpen else { continue }
                    if next != time { Issue.record("\(zone) \(times): \(time), not \(String(describing: next))") }
                    isOpen = found
                    next = calendar.nextChange(after: time)
                }
            }
        }
    }
}
