import StrictJSON
import Testing
import XferProtocol

@testable import XferCommands

@Suite struct EventLineTests {
    private func line(_ event: JSONValue) throws -> String {
        let line = EventLine(style: .plain).line(try EventMessage(lenient: event))
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
