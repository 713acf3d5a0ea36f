import Testing
import XferCore
import XferModel

@Suite struct BandwidthScheduleTests {
    private func changes(_ schedule: BandwidthSchedule, in zone: TimeZoneRules, from: String, count: Int) -> [String] {
        var time = at(from)
        var found: [String] = []
        while found.count < count, let next = schedule.nextChange(after: time, in: zone) {
            found.append("\(next.description.prefix(16)) \(schedule.limits(at: next, in: zone)?.description ?? "none")")
            time = next
        }
        return found
    }

    @Test func theLastEntryHoldsOverMidnight() throws {
        let schedule = try BandwidthSchedule(parsing: ["19:00 off", "08:00 512K"])
        #expect(schedule.limits(at: at("2026-01-05T03:00:00Z"), in: .utc) == BandwidthLimits())
        #expect(
            schedule.limits(at: at("2026-01-05T08:00:00Z"), in: .utc)
                == BandwidthLimits(receive: 512_000, send: 512_000))
        #expect(schedule.limits(at: at("2026-01-05T18:59:59.9Z"), in: .utc)?.receive == 512_000)
        #expect(
            changes(schedule, in: .utc, from: "2026-01-05T03:00:00Z", count: 3) == [
                "2026-01-05T08:00 500Ki", "2026-01-05T19:00 off", "2026-01-06T08:00 500Ki",
            ])
    }

    @Test func eachDirectionMayHaveALimitOfItsOwn() throws {
        let schedule = try BandwidthSchedule(parsing: ["00:00 2M/64Ki", "12:00 off/1"])
        #expect(
            schedule.limits(at: at("2026-01-05T03:00:00Z"), in: .utc)
                == BandwidthLimits(receive: 2_000_000, send: 65_536))
        #expect(schedule.limits(at: at("2026-01-05T13:00:00Z"), in: .utc) == BandwidthLimits(receive: 0, send: 1))
        #expect(schedule.entries.map(\.description) == ["00:00 2M/64Ki", "12:00 off/1"])
    }

    @Test func oneEntryHoldsAlwaysAndAnEmptyScheduleSetsNoLimit() throws {
        let one = try BandwidthSchedule(parsing: ["08:00 1K"])
        #expect(one.limits(at: at("2026-01-05T03:00:00Z"), in: .utc)?.receive == 1000)
        #expect(one.nextChange(after: at("2026-01-05T03:00:00Z"), in: .utc) == nil)
        #expect(BandwidthSchedule().limits(at: at("2026-01-05T03:00:00Z"), in: .utc) == nil)
        // Entries that say the same are no change.
        let same = try BandwidthSchedule(parsing: ["08:00 1K", "09:00 1K"])
        #expect(same.nextChange(after: at("2026-01-05T03:00:00Z"), in: .utc) == nil)
    }

    @Test func anEntryThatSummerTimeSkipsHoldsFromTheGapsEnd() throws {
        let berlin = try Zones.zone("Europe/Berlin")
        let schedule = try BandwidthSchedule(parsing: ["02:30 1K", "05:00 off"])
        #expect(
            changes(schedule, in: berlin, from: "2026-03-28T12:00:00Z", count: 2) == [
                "2026-03-29T01:00 1K", "2026-03-29T03:00 off",
            ])
        // And one in the hour that comes twice holds twice.
        #expect(
            changes(schedule, in: berlin, from: "2026-10-24T12:00:00Z", count: 4) == [
                "2026-10-25T00:30 1K", "2026-10-25T01:00 off", "2026-10-25T01:30 1K", "2026-10-25T04:00 off",
            ])
    }

    @Test(arguments: [
        "", "08:00", "8:0 1K", "008:00 1K", "24:00 1K", "08:60 1K", "08:00 1x", "08:00 -1", "08:00 1K/2K/3K",
        "08:00 1K 2K", "08:00 9999999T", "08:00 1.5.0M", "funday 08:00 1K", "mon-fri 08:00", "mon,,tue 08:00 1K",
        "mon tue 08:00 1K",
    ]) func aTextThatIsNoEntryIsRefusedWithAnExample(text: String) {
        let fault = #expect(throws: BandwidthSchedule.Fault.self) {
            try BandwidthSchedule(parsing: ["00:00 off", text])
        }
        #expect(fault == .malformed(index: 1))
        #expect(fault?.description.contains("08:00 512K") == true)
    }

    @Test func anHourMayHaveOneDigit() throws {
        let schedule = try BandwidthSchedule(parsing: ["8:00 1K", "mon 9:30 2K"])
        #expect(schedule.entries.map(\.description) == ["08:00 1K", "mon 09:30 2K"])
    }

    @Test(arguments: [
        ("mon-fri 08:00-22:00 512K", "mon-fri 08:00 512K", "mon-fri 22:00 off"),
        ("08:00-12:30 2M/64K", "08:00 2M/64K", "12:30 off"), ("22:00-06:00 1K", "22:00 1K", "06:00 off"),
    ]) func aSpanIsRefusedWithItsTwoEntries(text: String, from: String, to: String) throws {
        let fault = #expect(throws: BandwidthSchedule.Fault.self) {
            try BandwidthSchedule(parsing: ["00:00 off", text])
        }
        #expect(fault == .span(from: from, to: to, index: 1) && fault?.index == 1)
        #expect(fault?.description == "an entry has no end: the span is two entries, \"\(from)\" and \"\(to)\"")
        _ = try BandwidthSchedule(parsing: [from, to])
    }

    @Test(arguments: [
        "-", "08:00- 1K", "-08:00 1K", "08:00-09:00-10:00 1K", "08:00-08:00 1K", "a-b c", "sun 22:00-06:00 1K",
        "sun 08:00-24:00 1K",
    ])
    func aSpanThatCannotBeReadIsNoEntry(text: String) {
        #expect(throws: BandwidthSchedule.Fault.malformed(index: 0)) { try BandwidthSchedule(parsing: [text]) }
    }

    @Test(arguments: ["08:00 0", "mon-fri 08:00 0", "18:00-23:00 0"])
    func aRateOfZeroIsRefusedSinceItMayBeMeantAsAStop(text: String) {
        let fault = #expect(throws: BandwidthSchedule.Fault.self) {
            try BandwidthSchedule(parsing: ["00:00 off", text])
        }
        #expect(fault == .zero(index: 1) && fault?.index == 1)
        #expect(fault?.description.contains("\"off\" is no limit") == true)
    }

    /// 2026-01-05 is a Monday.
    @Test func anEntryWithDaysBeginsOnTheseAndAppliesUntilTheNextOne() throws {
        let schedule = try BandwidthSchedule(parsing: ["mon-fri 08:00 1K", "mon-fri 19:00 off", "sun 18:00 2K"])
        #expect(
            changes(schedule, in: .utc, from: "2026-01-08T12:00:00Z", count: 6) == [
                "2026-01-08T19:00 off", "2026-01-09T08:00 1K", "2026-01-09T19:00 off", "2026-01-11T18:00 2K",
                "2026-01-12T08:00 1K", "2026-01-12T19:00 off",
            ])
        // Friday's last entry goes on, since none begins on Saturday.
        #expect(schedule.limits(at: at("2026-01-10T23:59:59Z"), in: .utc) == BandwidthLimits())
        // Sunday's goes on past midnight.
        #expect(schedule.limits(at: at("2026-01-12T07:59:59Z"), in: .utc)?.receive == 2000)
        #expect(schedule.entries.map(\.description) == ["mon-fri 08:00 1K", "sun 18:00 2K", "mon-fri 19:00 off"])
    }

    @Test func oneEntryADayOfTheWeekAppliesForAWeek() throws {
        let schedule = try BandwidthSchedule(parsing: ["wed 12:00 1K", "tue 12:00 2K"])
        // Wednesday noon to Tuesday noon, before and after the entries' times of those days.
        for (time, rate) in [
            ("2026-01-07T11:59:59Z", 2000), ("2026-01-07T12:00:00Z", 1000), ("2026-01-13T11:59:59Z", 1000),
            ("2026-01-13T12:00:00Z", 2000),
        ] as [(String, Int64)] {
            #expect(schedule.limits(at: at(time), in: .utc)?.receive == rate, "\(time)")
        }
        #expect(
            changes(schedule, in: .utc, from: "2026-01-07T12:00:00Z", count: 2) == [
                "2026-01-13T12:00 2K", "2026-01-14T12:00 1K",
            ])
    }

    /// Both changes of Berlin's time are on a Sunday: at 02:00 to 03:00, and at 03:00 back to 02:00.
    @Test func daysAreThoseOfTheWallClockWhenItsHourIsSkippedOrRepeated() throws {
        let berlin = try Zones.zone("Europe/Berlin")
        let schedule = try BandwidthSchedule(parsing: ["sat 23:30 1K", "sun 02:30 2K", "mon 00:30 off"])
        #expect(
            changes(schedule, in: berlin, from: "2026-03-28T12:00:00Z", count: 3) == [
                "2026-03-28T22:30 1K", "2026-03-29T01:00 2K", "2026-03-29T22:30 off",
            ])
        #expect(
            changes(schedule, in: berlin, from: "2026-10-24T12:00:00Z", count: 5) == [
                "2026-10-24T21:30 1K", "2026-10-25T00:30 2K", "2026-10-25T01:00 1K", "2026-10-25T01:30 2K",
                "2026-10-25T23:30 off",
            ])
    }

    @Test(
        arguments: [
            (["08:00 1K", "mon-fri 08:00 2K"], "two entries begin on mon at 08:00; each time of a day may have one"),
            (
                ["fri-sun 08:00 1K", "sun-tue 08:00 2"],
                "two entries begin on sun at 08:00; each time of a day may have one"
            ),
            (["mon-sun 08:00 1K", "08:00 2K"], "two entries begin at 08:00; each time of day may have one"),
            (["mon-fri 08:00 1K", "sat,sun 08:00 2K"], nil),
        ] as [([String], String?)])
    func entriesAtOneTimeOfDayHaveDifferentDays(lines: [String], text: String?) throws {
        guard let text else { return #expect(try BandwidthSchedule(parsing: lines).entries.count == 2) }
        let fault = #expect(throws: BandwidthSchedule.Fault.self) { try BandwidthSchedule(parsing: lines) }
        #expect(fault?.index == 1 && fault?.description == text)
    }

    @Test func twoEntriesAtOneTimeAreRefused() throws {
        let fault = #expect(throws: BandwidthSchedule.Fault.self) {
            try BandwidthSchedule(parsing: ["08:00 1K", "19:00 off", "08:00 2K"])
        }
        #expect(fault?.index == 2)
        #expect(fault?.description == "two entries begin at 08:00; each time of day may have one")
        #expect(throws: BandwidthSchedule.Fault.tooMany(limit: 1440)) {
            try BandwidthSchedule(
                [BandwidthSchedule.Entry](
                    repeating: BandwidthSchedule.Entry(start: .midnight, limits: BandwidthLimits()), count: 1441))
        }
    }
}
