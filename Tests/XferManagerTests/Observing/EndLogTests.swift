import Logging
import Testing
import XferModel

@testable import XferManager

@Suite struct EndLogLimitTests {
    private let start = MonotonicInstant(seconds: 100, nanoseconds: 0)

    @Test func aMinuteTakesSoManyEndsAndCountsTheRest() {
        var limit = EndLogLimit()
        for number in 1...EndLogLimit.perWindow {
            let isAdmitted = limit.admit(at: start)
            #expect(isAdmitted && limit.isUsedUp == (number == EndLogLimit.perWindow))
        }
        for number in 1...3 {
            let isAdmitted = limit.admit(at: start.advanced(by: .seconds(59)))
            #expect(!isAdmitted && limit.lastCount == number && !limit.isUsedUp)
        }
    }

    @Test func theNextMinuteBeginsAnew() {
        var limit = EndLogLimit()
        for _ in 0...EndLogLimit.perWindow { _ = limit.admit(at: start) }
        #expect(limit.lastCount == 1)
        let isAdmitted = limit.admit(at: start.advanced(by: .seconds(60)))
        #expect(isAdmitted && limit.isNew && limit.lastCount == 0)
    }
}

@Suite struct EndLogLineTests {
    private let id = TaskID(7)

    private func event(_ payload: EventPayload) -> Event {
        Event(seq: 1, time: Timestamp(seconds: 0), taskID: id, owner: Owner(uid: 1000), payload: payload)
    }

    @Test func aCompletedTaskIsALineWithItsPathAndLength() throws {
        let payload = EventPayload.taskCompleted(path: "/d/f", size: 12, skipped: false, notModified: false)
        let line = try #require(EndLogLine(event(payload), nil))
        #expect(line.level == .info && line.message == "a task has completed")
        #expect(line.metadata == ["task": "7", "owner": "1000", "path": "/d/f", "bytes": "12"])
        let skipped = EventPayload.taskCompleted(path: "/d/f", size: 12, skipped: true, notModified: false)
        #expect(EndLogLine(event(skipped), nil)?.message == "a task has completed: its file existed")
        let page = EventPayload.taskCompleted(
            path: "/d/f", size: 12, skipped: false, notModified: false, warning: "a page")
        #expect(EndLogLine(event(page), nil)?.metadata["warning"] == "a page")
    }

    @Test func aFailureForGoodIsAWarningWithItsReason() throws {
        let error = TransferError(.httpStatus, "h answered 404", httpStatus: 404, host: "h")
        let line = try #require(EndLogLine(event(.taskFailed(error: error)), nil))
        #expect(line.level == .warning && line.message == "a task has failed")
        #expect(
            line.metadata == [
                "task": "7", "owner": "1000", "reason": "http_status", "error": "h answered 404", "host": "h",
            ])
        #expect(EndLogLine(event(.taskCancelled), nil) == nil)
    }

    @Test func theTimeBetweenRunsDoesNotCount() throws {
        let failure = EventPayload.taskFailed(error: TransferError(.httpStatus, "h answered 404"))
        let payloads: [(Int64, EventPayload)] = [
            (10, .taskStarted(attempt: 1, offset: 0)), (11, failure), (34, .taskResumed),
            (34, .taskStarted(attempt: 1, offset: 0)),
            (36, .taskCompleted(path: "/d/f", size: 6000, skipped: false, notModified: false)),
        ]
        let events = payloads.enumerated().map { index, entry in
            Event(
                seq: Int64(index + 1), time: Timestamp(seconds: entry.0), taskID: id, owner: Owner(uid: 1000),
                payload: entry.1)
        }
        let runs = RunTimes(events)
        #expect(runs.count == 2 && runs.milliseconds == 3000)
        #expect(RunTimes(Array(events.dropFirst(3))).milliseconds == 2000)
        #expect(RunTimes([]).count == 0)
    }

    @Test(arguments: [(0, "0.0"), (99, "0.0"), (100, "0.1"), (1500, "1.5"), (61_000, "61.0")] as [(Int64, String)])
    func durationsHaveTenthsOfASecond(milliseconds: Int64, text: String) {
        #expect(EndLogLine.seconds(milliseconds) == text)
    }
}
