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
        "", "08:00", "8:00 1K", "24:00 1K", "08:60 1K", "08:00 1x", "08:00 -1", "08:00 1K/2K/3K", "08:00 1K 2K",
        "08:00 9999999T", "mon 08:00 1K", "08:00 1.5.0M",
    ]) func aTextThatIsNoEntryIsRefusedWithAnExample(text: String) {
        let fault = #expect(throws: BandwidthSchedule.Fault.self) {
            try BandwidthSchedule(parsing: ["00:00 off", text])
        }
        #expect(fault == .malformed(index: 1))
        #expect(fault?.description.contains("08:00 512K") == true)
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
