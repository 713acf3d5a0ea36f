import Testing
import XferModel
import XferTestSupport

@testable import XferCommands

/// 2026-01-05 12:00 UTC is a Monday; the zone of these tests is an hour ahead of it.
@Suite struct TimeArgumentTests {
    private static let now = Timestamp(seconds: 1_767_614_400)
    private static let offset: Int64 = 3600

    private static let zone = LocalZone(
        timestamp: { civil in
            let text = [civil.month, civil.day, civil.hour, civil.minute, civil.second].map {
                $0 < 10 ? "0\($0)" : "\($0)"
            }
            let day = "\(civil.year)-\(text[0])-\(text[1])"
            return Timestamp(rfc3339: "\(day)T\(text[2]):\(text[3]):\(text[4])Z")?.advanced(by: .seconds(-offset))
        },
        civil: { time in
            let text = time.advanced(by: .seconds(offset)).description
            let numbers = text.split { !$0.isNumber }.compactMap { Int32($0) }
            guard numbers.count >= 6 else { return nil }
            return CivilTime(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
                second: numbers[5])
        })

    @Test(arguments: [
        ("22:00", "2026-01-05T21:00:00.000Z"), ("13:00", "2026-01-06T12:00:00.000Z"),
        ("8:05", "2026-01-06T07:05:00.000Z"), ("13:00:01", "2026-01-05T12:00:01.000Z"),
        ("today 08:00", "2026-01-05T07:00:00.000Z"), ("Tomorrow 08:00", "2026-01-06T07:00:00.000Z"),
        ("2027-01-01 10:00", "2027-01-01T09:00:00.000Z"), ("2027-01-01T10:00:30", "2027-01-01T09:00:30.000Z"),
        ("2027-01-01", "2026-12-31T23:00:00.000Z"), ("+90m", "2026-01-05T13:30:00.000Z"),
        ("2h", "2026-01-05T14:00:00.000Z"), ("+30", "2026-01-05T12:00:30.000Z"),
        ("2026-01-05T12:00:00Z", "2026-01-05T12:00:00.000Z"), ("2026-01-05T12:00:00+02:00", "2026-01-05T10:00:00.000Z"),
    ])
    func aTimeIsReadInTheMachinesZone(text: String, expected: String) {
        #expect(TimeArgument(text, now: Self.now, zone: Self.zone)?.time.description == expected)
    }

    @Test(arguments: [
        "", "+", "22", "24:00", "22:60", "22:00:60", "tomorrow", "today", "tomorrow 8", "2027-02-30 10:00", "2027-1-1",
        "27-01-01 10:00", "2027-01-01 10:00 Z", "22:00 tomorrow", " 22:00", "yesterday 10:00", "-2h", "1.5", "99999:00",
    ])
    func aTextThatIsNoTimeIsRejected(text: String) {
        #expect(TimeArgument(text, now: Self.now, zone: Self.zone) == nil)
    }

    @Test func theMachinesZoneKnowsNoThirtiethOfFebruary() throws {
        let machine = LocalZone.machine
        #expect(machine.timestamp(CivilTime(year: 2027, month: 2, day: 30)) == nil)
        let civil = CivilTime(year: 2027, month: 7, day: 1, hour: 10, minute: 30, second: 5)
        let time = try #require(machine.timestamp(civil))
        #expect(machine.civil(time) == civil)
    }

    @Test func aRefusedTimeIsAnsweredWithTheAcceptedForms() async throws {
        let result = try await Program.run(["add", "--not-before", "soon", "http://h/"])
        #expect(result.exit == .code(2) && result.errors.contains("tomorrow 08:00"), "\(result)")
    }
}
