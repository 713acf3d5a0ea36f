import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct EventLineTests {
    /// 2026-01-02T03:04:05Z, the time of the events.
    private static let day = Timestamp(seconds: 1_767_323_045)

    @Test func anEventOfAnotherDayIsPrintedWithItsDate() throws {
        let event = try EventMessage(lenient: Wire.event("task.paused", 7, seq: 12))
        let today = EventLine(style: .plain, now: Self.day).line(event)
        let later = EventLine(style: .plain, now: Self.day.advanced(by: .seconds(3 * 86_400))).line(event)
        #expect(!today.contains("2026-01-02"), "\(today)")
        #expect(later.hasPrefix("2026-01-02 "), "\(later)")
    }

    private func line(_ event: JSONValue) throws -> String {
        let line = EventLine(style: .plain, now: Self.day).line(try EventMessage(lenient: event))
        return String(try #require(line.split(separator: " ", maxSplits: 1).dropFirst().first))
    }

    @Test func nestedValuesArePrintedUnderTheNameOfTheirParent() throws {
        let event = Wire.event(
            "task.waiting", 7, seq: 12,
            ["wait": ["reason": "retry"], "error": ["reason": "idle_timeout", "message": "no byte"]])
        #expect(
            try line(event)
                == #"    12 task.waiting        #7     wait.reason=retry error.reason=idle_timeout error.message="no byte""#
        )
    }

    @Test func eventsOfANewerDaemonArePrintedEscaped() throws {
        let event: JSONValue = ["time": "2026-01-02T03:04:05Z", "type": "moon.full\u{1b}", "phase": 1]
        #expect(try line(event) == "     - moon.full␛                 phase=1")
    }
}
